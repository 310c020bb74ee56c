-- SPDX-License-Identifier: Apache-2.0
select plan(4);

select t.run() as r \gset
select is(t.answer(null, :'r', 0, 'complete', null, '1'), 'lease_lost', 'an end of a run that nobody holds');
select is(t.answer(null, :'r', 0, 'step', 'a#1', '1'), 'lease_lost', 'a step of a run that nobody holds');
select is(t.answer(null, :'r', 0, 'suspend'), 'lease_lost', 'a pause of a run that nobody holds');
select is(t.state(:'r'), 'QUEUED', 'nothing has happened to the run');

select * from finish();
