-- SPDX-License-Identifier: Apache-2.0
select plan(2);
select t.flow('k.flow', '[["a"]]');
select t.stop_clock();
select run_id as r from pawl.trigger('k.flow', '5') \gset
select t.session() as s \gset
select t.crash_out(:s, 5) \gset
select is(t.state(:'r'), 'ERROR', 'after five crashes');
select matches((select error ->> 'message' from pawl.result(:'r')), 'step a#1 failed: 5 workers lost their lease', 'and says why');
select * from finish();
