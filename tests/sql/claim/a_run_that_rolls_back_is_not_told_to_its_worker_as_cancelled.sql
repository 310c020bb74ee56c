-- SPDX-License-Identifier: Apache-2.0
select plan(3);

select t.session() as s \gset
select run_id as r, fence as f from t.held(:s) \gset
select t.answers(:s, json_build_array(
    json_build_object('run', :'r', 'fence', :f, 'kind', 'begin', 'name', 'pay#1', 'seq', 1, 'option', json_build_object('undo', json_build_object('handler', 'refund'))),
    json_build_object('run', :'r', 'fence', :f, 'kind', 'step', 'name', 'pay#1', 'payload', '1', 'seq', 1),
    json_build_object('run', :'r', 'fence', :f, 'kind', 'fail', 'payload', '{}', 'option', json_build_object('final', true)))) \g /dev/null
select is((select rolling_back from t.one(:s)), true, 'it works off its undos');
select is((select notice from pawl.heartbeat(:s)), null, 'the heartbeat has nothing to tell');
select is((select notice from pawl.held(:s)), null, 'nor has held');

select * from finish();
