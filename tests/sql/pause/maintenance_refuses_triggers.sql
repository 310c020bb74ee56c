-- SPDX-License-Identifier: Apache-2.0
-- pause_all with refuse_triggers.
select plan(14);
select t.session() as s \gset
select * from t.held(:s, 'test.flow') \gset
select is(pawl.pause_all('new disks', 'ada', refuse_triggers => true), 'ok', 'paused');
select throws_like($$select pawl.trigger('test.flow')$$, 'triggers are refused: ada paused everything at % UTC: new disks', 'trigger is refused');
select throws_ok($$select pawl.trigger('test.flow')$$, 'PW013', null, 'with its code');
select throws_ok($$select pawl.trigger('test.flow', key => 'k', id => pawl.make_id())$$, 'PW013', null, 'with a key and an id');
select throws_ok($$select pawl.trigger_many('test.flow', array['{}']::json[])$$, 'PW013', null, 'and trigger_many');
select is((select retryable from pawl.errors() where code = 'PW013'), true, 'the same call may be sent again');
select is(t.answer(:s, :'run_id', :fence, 'child', 'c#1', '{}', '{"workflow": "test.flow"}'), 'ok', 'a held run may start a child, so that it can end');
select is((select count(*) from pawl.emit('t', '{}')), 1::bigint, 'events are stored');
select is(pawl.create_flow('test.maintained'), 'created', 'a flow is defined');
select is(pawl.add_step('test.maintained', 'child', options => '{"workflow": "test.flow"}'), 'created', 'with a step that is a child run, which triggers nothing now');
select is(pawl.pause_all(refuse_triggers => false), 'already', 'the refusal can be taken away alone');
select is((select created from pawl.trigger('test.flow')), true, 'now triggers are taken');
select is(pawl.pause_all(refuse_triggers => true), 'already', 'and refused again');
select pawl.resume_all() \g /dev/null
select is((select created from pawl.trigger('test.flow')), true, 'a resume ends the refusal, too');
select * from finish();
