-- SPDX-License-Identifier: Apache-2.0
select plan(4);
select t.session() as s \gset
select run_id as r, fence as f from t.held(:s) \gset
select pawl.step(:s, :'r', :f, 'a', '1') \g /dev/null
select pawl.step(:s, :'r', :f, 'b', '2') \g /dev/null
select pawl.complete(:s, :'r', :f) \g /dev/null
select t.later('1 h', :s);
select run_id as k from pawl.fork(:'r', 'b') \gset
select is((select string_agg(what, ' ' order by n) from pawl.history(:'k') with ordinality h (at, what, round, who, detail, n)),
    'triggered step_succeeded forked_from', 'its copy of a record follows its trigger');
select is((select count(*) from pawl.history(:'k') where at < (select triggered_at from pawl.get_run(:'k'))), 0::bigint, 'nothing is older than the fork');
select is((select forked_from::text from pawl.get_run(:'k')), :'r', 'a fork has its source');
select is((select forked_from from pawl.get_run(:'r')), null, 'its source has none');
select * from finish();
