-- SPDX-License-Identifier: Apache-2.0
-- The SQLSTATE list and the helper that raises from it. Clients decide on the code, never on the text.

create or replace function pawl.errors()
returns table (code text, name text, meaning text, retryable boolean)
language sql
immutable
security definer
set search_path to pg_catalog, pg_temp
as $$
    values
        ('PW001', 'not_found', 'no such run, workflow, queue, session or step (or it belongs to another tenant)', false),
        ('PW002', 'unknown_workflow', 'the workflow was never created here; create it first', false),
        ('PW003', 'bad_argument', 'an argument is missing, malformed or out of range', false),
        ('PW004', 'key_conflict', 'the same key was used with another input', false),
        ('PW005', 'lease_lost', 'the session or the fence is no longer valid; drop the run at once', false),
        ('PW006', 'cancelled', 'the run was cancelled; nothing more is recorded', false),
        ('PW007', 'refused', 'the run is not in a state that allows this', false),
        ('PW008', 'isolation', 'this verb works at isolation level read committed only', false),
        ('PW009', 'too_large', 'a payload, name or list is over its limit', false),
        ('PW010', 'busy', 'another transaction holds what the call needs; send the call again', true),
        ('PW011', 'protocol', 'the worker and this schema do not speak the same protocol', false),
        ('PW012', 'old_epoch', 'the session belongs to an epoch that an operator has closed; register again', false),
        ('PW013', 'maintenance', 'an operator has paused everything and refuses triggers; send the call again later', true)
$$;
comment on function pawl.errors() is
'The SQLSTATE codes that pawl raises, with a name, a meaning and whether the same call may be sent again.
If repeated: returns the same list.
Locks: none.
Errors: none.
Limits: the cost is constant.';

create or replace function pawl._raise(p_code text, p_message text, p_hint text default null)
returns void
language plpgsql
stable
set search_path to pg_catalog, pg_temp
as $$
begin
    if p_hint is null then
        raise exception using errcode = p_code, message = p_message;
    end if;
    raise exception using errcode = p_code, message = p_message, hint = p_hint;
end
$$;
comment on function pawl._raise(text, text, text) is 'raises one of the errors that pawl.errors() lists';

create or replace function pawl._only_read_committed(p_verb text)
returns void
language plpgsql
stable
set search_path to pg_catalog, pg_temp
as $$
begin
    if current_setting('transaction_isolation') <> 'read committed' then
        -- guard:read_committed
        perform pawl._raise('PW008', format('pawl.%s works at isolation level read committed only', p_verb),
            case when current_setting('default_transaction_isolation') = 'read committed'
                 then 'Call it in a transaction of its own, or begin with isolation level read committed.'
                 else 'The default is another level: begin with isolation level read committed, or change the default: '
                      'alter role NAME set default_transaction_isolation to ''read committed''.' end);
    end if;
end
$$;
comment on function pawl._only_read_committed(text) is 'refuses callers whose snapshot would be older than a lock they take';

-- Returns the role that calls. Inside a security definer function the current role is the owner, so this is the role that was set, or else
-- the login role. Only a role that the login is a member of can be set.
create or replace function pawl._caller()
returns text
language plpgsql
stable
set search_path to pg_catalog, pg_temp
as $$
begin
    return coalesce(nullif(current_setting('role'), 'none'), session_user::text);
end
$$;
comment on function pawl._caller() is 'the role that calls: the one that was set, or the one that logged in';

-- Notes that a run, or a piece as a whole, could not be handled; doctor() shows it for ten minutes. At most every ten seconds, so that the
-- row does not change at every tick; and not at all while another transaction has the row.
create or replace function pawl._note_failure(p_piece text, p_now timestamptz, p_error text)
returns void
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
as $$
begin
    perform from pawl_data.chore c
    where c.chore = p_piece and (c.failed_at is null or c.failed_at < p_now - interval '10 s' or c.failed_at > p_now)
    -- guard:note_skip_locked
    for update skip locked;
    if found then
        update pawl_data.chore c set last_error = left(p_error, 1000), failed_at = p_now where c.chore = p_piece;
    end if;
end
$$;
comment on function pawl._note_failure(text, timestamptz, text) is 'notes what failed in a piece of housekeeping';
