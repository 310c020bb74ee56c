-- SPDX-License-Identifier: Apache-2.0
select plan(1);
select t.run() as r \gset
select is(pawl.why(:'r'), 'Queued, but no worker has ever registered a handler for test.flow. Start one.', 'exactly');
select * from finish();
