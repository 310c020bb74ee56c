-- SPDX-License-Identifier: Apache-2.0
select plan(6);
select t.session() as s \gset
select run_id as r, fence as f from t.held(:s) \gset
select is((select answer from pawl.wait_event(:s, :'r', :f, 'w', 'paid', 'order:7')), 'ok', 'waits for a key');
select is((select woken from pawl.emit('paid', '{}')), 0, 'no key');
select is((select woken from pawl.emit('paid', '{}', 'order:8')), 0, 'another key');
select is((select woken from pawl.emit('Paid', '{}', 'order:7')), 0, 'another topic');
select is((select woken from pawl.emit('paid', '{}', 'order:7', 'acme')), 0, 'another tenant');
select is((select woken from pawl.emit('paid', '{}', 'order:7')), 1, 'the same topic and key');
select * from finish();
