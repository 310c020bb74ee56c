-- SPDX-License-Identifier: Apache-2.0
select plan(2);
select t.session() as s \gset
select t.flow('many.flow', '[["a"], ["b"], ["c", "a"], ["d", "b"]]');
select run_id as r from pawl.trigger('many.flow', '1') \gset
select t.work(:s) \gset
select is((select status from pawl.result(:'r')), 'SUCCESS', 'done');
select is((select string_agg(k, ' ' order by k) from pawl.result(:'r'), json_object_keys(output) k), 'c d', 'each leaf is in the output');
select * from finish();
