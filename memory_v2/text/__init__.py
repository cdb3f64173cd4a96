"""What can be read from text without a model: words, speakers, dates and names. Standard library only."""
