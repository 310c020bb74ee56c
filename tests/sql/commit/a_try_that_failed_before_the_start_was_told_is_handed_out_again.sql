-- SPDX-License-Identifier: Apache-2.0
select plan(5);

select t.session() as s \gset
select t.session() as other \gset
select t.run() as r \gset
select fence as f from t.one(:s, start => false) \gset
select is(t.answer(:s, :'r', :f, 'retry', 'a#1', '{}', null, 1), 'ok', 'a failed try of a task that has not started');
select t.later('31 s', :other) \g /dev/null
select is(t.state(:'r'), 'QUEUED', 'its worker is lost');
select fence as f, record #>> '{retries,a#1,n}' as n from t.one(:other) \gset
select is(:n, 1, 'the next claim is told of the try');
select is((select value ->> 'failures' from t.item(:other, :'r', :f, 'retry', 'a#1', '{}', '{"failure": 2}', 1)), '2', 'and counts on from it');
select is(t.audit(:'r'), 'attempt_failed attempt_failed', 'two tries are on record');

select * from finish();
