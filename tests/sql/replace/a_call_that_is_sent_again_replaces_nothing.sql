-- SPDX-License-Identifier: Apache-2.0
-- A client that loses a reply sends the call again, with its id and without id_is_new.
select plan(12);

select t.session(lease => '1 day') as s \gset
select pawl.create_workflow('test.flow') \g /dev/null
create function t.again(id uuid, input json, key text default 'k') returns text language sql as $$
    select r.run_id || ' ' || r.created from pawl.trigger('test.flow', input, key => key, id => id, replace => true) r
$$;
create function t.new(id uuid, input json, key text default 'k') returns text language sql as $$
    select r.run_id || ' ' || r.created from pawl.trigger('test.flow', input, key => key, id => id, replace => true, id_is_new => true) r
$$;
select pawl.make_id() as a \gset
select pawl.test_clock_advance('10 ms') \g /dev/null
select pawl.make_id() as b \gset
select pawl.test_clock_advance('10 ms') \g /dev/null
select pawl.make_id() as c \gset
select is(t.new(:'a', '1'), :'a' || ' true', 'the first makes a run');
select is(t.again(:'a', '1'), :'a' || ' false', 'sent again it finds it');
select is(t.new(:'b', '2'), :'a' || ' false', 'the second changes it');
select is(t.again(:'a', '1'), :'a' || ' false', 'the first, sent again after that');
select is((select input::text from pawl.claim(:s, 10)), '2', 'changes nothing');
-- The reply to the second was lost, and the run has begun.
select is(t.again(:'b', '2'), :'a' || ' false', 'the second, sent again when a worker has the run, makes no other');
select is((select count(*) from pawl_data.task), 1::bigint, 'there is one run');
select is(t.new(:'c', '3'), :'c' || ' true', 'a third call makes one');
select is(t.again(:'b', '2'), :'c' || ' false', 'the second, sent again after that, changes nothing');
select is(t.again(:'a', '1'), :'a' || ' false', 'the first finds its run');
select is((select input::text from pawl.claim(:s, 10)), '3', 'the third is executed');
select is((select count(*) from pawl_data.task), 2::bigint, 'nothing else is there');
select * from finish();
