// Tools of Writ for LangChain (`npm install @langchain/core`).
import { tool } from '@langchain/core/tools';
import { langchainTools } from 'writ-client/langchain';
import { client } from './place.mjs';

const [js] = await langchainTools(client, tool, { only: (o) => o.tool === 'js', run: process.env.WRIT_RUN });
console.log(js.name, await js.invoke({ source: '6*7' }));
console.log(await js.invoke({ source: "throw new Error('no such order')" }));
