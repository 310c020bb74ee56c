-- SPDX-License-Identifier: Apache-2.0
-- The reply to a commit that recorded a step of a task and ended it was lost.
select plan(7);
select t.session() as s \gset
select t.flow('again.flow', '[["a"], ["b"]]');
select run_id as r from pawl.trigger('again.flow', '5') \gset
select count(*) from pawl.claim(:s, 10) \gset
prepare twice as
    select string_agg(answer || coalesce(' ' || (value ->> 'output'), ''), ', ' order by item)
    from pawl.commit_each(:s, array[:'r', :'r']::uuid[], '{1,1}', '{step,complete}', '{inner#1,null}', '{7,8}', null,
        '{1000000,1000000}');
select results_eq('twice', array['ok, ok'], 'a step, and its task is done');
select results_eq('twice', array['already 7, already 8'], 'sent again, both are answered with what is recorded');
select is((select answer from pawl.step(:s, :'r', 1, 'other', '7', 1000000)), 'lease_lost', 'a step that was not recorded is not');
select is((select answer from pawl.sleep(:s, :'r', 1, 'nap', '1 s', 1000000)), 'already', 'of a wait nothing is left');
select is((select count(*) from pawl_data.audit a where a.run_id = :'r' and a.what = 'late_result'), 1::bigint, 'only that one came late');
select t.done(:s, :'r', 'b', '1') as c \gset
select results_eq('twice', array['already 7, already 8'], 'nor does the end of the run change the answers');
select is(t.state(:'r'), 'SUCCESS', 'which ended well');
select * from finish();
