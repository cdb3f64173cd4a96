// Copies what is not compiled: icons, and what n8n's search knows of the nodes.
import { cp } from 'node:fs/promises';

for (const folder of ['icons', 'nodes']) {
  await cp(folder, `dist/${folder}`, { recursive: true, filter: (path) => !path.endsWith('.ts') });
}
