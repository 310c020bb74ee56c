-- SPDX-License-Identifier: Apache-2.0
select plan(4);

select t.session() as s \gset
select run_id as r, fence as f from t.held(:s) \gset
select is((select notice from pawl.heartbeat(:s)), null, 'nothing to tell');
select pawl.pause(array[:'r'::uuid]) \g /dev/null
select is((select notice || run_id from pawl.heartbeat(:s)), 'paused' || :'r', 'a run it holds was paused');
select pawl.drain_worker(:s) \g /dev/null
select is((select string_agg(notice, ' ' order by notice) from pawl.heartbeat(:s)), 'drain paused', 'and it is to leave');
select t.run() \g /dev/null
select is((select count(*) from pawl.claim(:s)), 0::bigint, 'it is given nothing more');

select * from finish();
