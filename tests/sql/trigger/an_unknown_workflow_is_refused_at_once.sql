-- SPDX-License-Identifier: Apache-2.0
select plan(4);

select throws_ok($$select pawl.trigger('no.such')$$, 'PW002', 'unknown workflow "no.such"', 'one');
select throws_ok($$select pawl.trigger_many('no.such', array['{}']::json[])$$, 'PW002', null, 'many');
select throws_ok($$select pawl.trigger(null)$$, 'PW002', null, 'none named');
select throws_ok($$select pawl.trigger('')$$, 'PW002', null, 'an empty name');

select * from finish();
