"""What can be known about words without a model: tokens, speakers, dates and names; standard library only."""
