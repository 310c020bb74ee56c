-- SPDX-License-Identifier: Apache-2.0
select plan(4);
select t.session() as s \gset
select t.flow('two.flow', '[["a"], ["b"], ["c", "a", "b"]]');
select run_id as r from pawl.trigger('two.flow', '{}') \gset
select count(*) from pawl.claim(:s, 10) \gset
select is(:count, 2, 'two roots');
select is((select string_agg(answer, ' ') from pawl.commit(:s, array[:'r', :'r']::uuid[], '{1,1}', '{complete,complete}', null, '{1,2}', null, '{1000000,2000000}')), 'ok ok', 'both at once');
select is((select string_agg(workflow, ',') from pawl.claim(:s, 10)), 'two.flow/c', 'the third once');
select is((select count(*) from pawl_data.gate), 0::bigint, 'no gate is left');
select * from finish();
