-- SPDX-License-Identifier: Apache-2.0
select plan(2);

select t.session('{first.*}') as s \gset
select is((select count(*) from pawl.claim(:s)), 0::bigint, 'there is nothing yet');
select t.run('first.flow') as r \gset
select is((select run_id from pawl.claim(:s)), :'r'::uuid, 'the new queue is noticed at the next claim');

select * from finish();
