// n8n's own rules, as `n8n-node lint` puts them together.
import { n8nCommunityNodesPlugin } from '@n8n/eslint-plugin-community-nodes';
import { defineConfig, globalIgnores } from 'eslint/config';
import n8nNodes from 'eslint-plugin-n8n-nodes-base';
import typescript from 'typescript-eslint';

const community = n8nCommunityNodesPlugin.configs.recommended;
const covered = {
  'n8n-nodes-base/cred-class-field-documentation-url-miscased': 'off',
  'n8n-nodes-base/cred-class-field-type-options-password-missing': 'off',
  'n8n-nodes-base/node-class-description-inputs-wrong-regular-node': 'off',
  'n8n-nodes-base/node-class-description-outputs-wrong': 'off',
  'n8n-nodes-base/node-param-type-options-max-value-present': 'off',
};

export default defineConfig(
  globalIgnores(['dist', 'test', '*.mjs']),
  { plugins: { 'n8n-nodes-base': n8nNodes } },
  {
    files: ['**/*.ts'],
    extends: [typescript.configs.recommended, community],
    rules: { 'no-console': 'error' },
  },
  {
    files: ['package.json'],
    extends: [community],
    rules: n8nNodes.configs.community.rules,
    languageOptions: { parser: typescript.parser, parserOptions: { extraFileExtensions: ['.json'] } },
  },
  { files: ['credentials/**/*.ts'], rules: { ...n8nNodes.configs.credentials.rules, ...covered } },
  { files: ['nodes/**/*.ts'], rules: { ...n8nNodes.configs.nodes.rules, ...covered } },
);
