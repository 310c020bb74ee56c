-- SPDX-License-Identifier: Apache-2.0
select plan(1);
select t.run() as r \gset
select is(pawl.why(:'r'), 'It is queued, but no worker was ever seen that handles test.flow; start one.', 'exactly');
select * from finish();
