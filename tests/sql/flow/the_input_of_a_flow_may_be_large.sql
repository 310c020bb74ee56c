-- SPDX-License-Identifier: Apache-2.0
select plan(2);
select t.session() as s \gset
select t.flow('b.flow', '[["a"]]');
select run_id as r from pawl.trigger('b.flow', to_json(repeat('x', 50000))) \gset
select is((select length(input ->> 'run') from pawl.claim(:s, 10)), 50000, 'all of it');
select t.done(:s, :'r', 'a', '1') as c \gset
select is(t.state(:'r'), 'SUCCESS', 'done');
select * from finish();
