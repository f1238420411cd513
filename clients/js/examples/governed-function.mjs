// A function of this process that is judged before it runs and reported after.
import { governed } from 'writ-client/functions';
import { client } from './place.mjs';

const run = process.env.WRIT_RUN;
const refund = governed(
  client,
  'refund',
  ({ order, amount }) => `refunded ${amount} of ${order}`,
  { run, keyOf: ({ order }) => `${run}/${order}` });

console.log(await refund({ order: '4711', amount: 20 }));
await refund({ order: '4711', amount: 20 }).catch((e) => console.log(e.code));
await refund({ order: '4712', amount: 2000 }).catch((e) => console.log(e.outcome.verdict, e.outcome.code));
