-- From here on a document lies in value, packed, in about half of the bytes; and of an event value
-- alone is written. Rows from before stay as they are. The views show both kinds: the functions
-- read what spec/storage.md says under Forms.

-- The text that was packed. The phrases are those of Phrases.java, which never change.
CREATE FUNCTION unpacked(packed bytea) RETURNS bytea
  LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
  SET search_path FROM CURRENT AS $$
DECLARE
  phrases CONSTANT text[] := string_to_array($phrases$","run":"
","subject":"
","tenant":"
","effect":"
","request":"
","snapshot":"
","prng_seed":"
","holder":"
","tool":{"name":"
","package":"
","version":"
","budget":"
"},{"amount":
","window_start":"
","decision":"
","time":"
","intent":"
","seq":
"}
"}}
{"consumes":[],"context":{},"delegations":[],"effect":{"inputs":[],"operation":"
{"consumes":[],"context":{
},"delegations":[],"effect":{"inputs":[
],"operation":"
","params":{
},"resources":{"cpu_ms":
,"memory_bytes":
,"output_bytes":
,"wall_ms":
},"sandbox":"
","tool":"
"},"evidence":[],"nonce":"
","requested_at":"
","retention":"
{"checks":[{"check":"prg","detail":"requirement 
): holds","outcome":"pass"},{"check":"budget","detail":"
","outcome":"pass"},{"check":"budget","detail":"
","outcome":"pass"},{"check":"temporal","detail":"
 accounts have room","outcome":"pass"},{"check":"temporal","detail":"
age, nonce, hours, rates and order hold
","outcome":"pass"},{"check":"envelope","detail":"
within manifest and role
","outcome":"pass"}],"decided_at":"
","inputs":{"approvals":[],"artifacts":[],"balances":[
","inputs":{"approvals":[
],"artifacts":[
],"balances":[
{"budget":"
","key":"[\"
\",\"
\"]","limit":
,"reserved":
,"used":
T00:00:00.000Z"},{"budget":"
"}],"charged":["
"],"history":[],"ignored":[],"nonce_seen":false,"rates":[],"received_at":"
"],"history":[
],"ignored":[],"nonce_seen":false,"rates":[],"received_at":"
","roles":["
"],"step":
},"policy":"
"},"policy":"
","verdict":"ALLOW"}
","verdict":"DENY"}
","verdict":"
{"audience":{"incarnation":
,"origin":"
"},"decision":"
","expires_at":"
","issued_at":"
{"args_hash":"
","artifacts":[],"decision":"
","artifacts":[
","finished_at":"
","lamport":
,"message":"","observations":"
,"message":"
","observations":"
","output":{"digest":"
","media_type":"
application/json","size":
},"prev":"
","prev":"
","reason":"ok","request":"
","reason":"
","retained":true,"run":"
","started_at":"
","status":"succeeded","subject":"
","status":"
{"at":"
","charges":[{"amount":
","charges":[],"kept_until":"
\"]"},{"amount":
\"]"}],"kept_until":"
","marks":[],"nonce":"[\"
\"]","state":"settled","step":
\"]","state":"reserved","step":
{"decision":"
","received_at":"
","state":"allowed","tenant":"
","state":"
{"closed":false,"in_doubt":0,"lamport":
{"closed":true,"in_doubt":0,"lamport":
,"last_receipt":"
","opener":"
","pending":0,"receipts":
,"running":0,"seed":"
application/vnd.writ.request.v1+json
application/vnd.writ.decision.v1+json
application/vnd.writ.intent.v1+json
application/vnd.writ.receipt.v1+json
application/vnd.writ.refusal.v1+json
application/vnd.writ.approval.v1+json
application/vnd.writ.
.v1+json
request.received
decision.made
intent.issued
effect.refused
effect.dispatched
effect.finished
receipt.signed
run.opened
run.closed
bwrap
","detail":"
","outcome":"
{"check":"
,"workspace_before":"
,"workspace_after":"
{"digest":"
{"name":"
"},{"name":"
","digest":"
","size":
"}],"
"},"
":[],"
":true,"
":false,"
":{},"
":{"
":["
"],"
":"
","$phrases$, E'\n');
  size CONSTANT integer := length(packed);
  unpacked bytea := '';
  at integer := 0;
  next integer;
  code integer;
  millis bigint;
BEGIN
  WHILE at < size LOOP
    code := get_byte(packed, at);
    next := at + 1;
    IF code >= 32 THEN
      WHILE next < size AND get_byte(packed, next) >= 32 LOOP
        next := next + 1;
      END LOOP;
      unpacked := unpacked || substring(packed FROM at + 1 FOR next - at);
    ELSIF code >= 6 THEN
      unpacked := unpacked || convert_to(phrases[code - 5], 'UTF8');
    ELSIF code = 5 THEN
      unpacked := unpacked || convert_to(phrases[get_byte(packed, next) + 27], 'UTF8');
      next := next + 1;
    ELSIF code = 4 THEN
      unpacked := unpacked || convert_to(base64url(substring(packed FROM next + 1 FOR 32)), 'UTF8');
      next := next + 32;
    ELSIF code = 3 THEN
      millis := ('x' || encode(substring(packed FROM next + 1 FOR 6), 'hex'))::bit(48)::bigint;
      unpacked := unpacked || convert_to(
        to_char(moment(millis) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), 'UTF8');
      next := next + 6;
    ELSIF code = 0 THEN
      unpacked := unpacked || substring(packed FROM next + 1 FOR 1);
      next := next + 1;
    ELSE
      unpacked := unpacked || convert_to(
        CASE code WHEN 1 THEN 'sha256:' ELSE '' END
          || encode(substring(packed FROM next + 1 FOR 32), 'hex'),
        'UTF8');
      next := next + 32;
    END IF;
    at := next;
  END LOOP;
  RETURN unpacked;
END
$$;

CREATE FUNCTION base64url(bytes bytea) RETURNS text
  LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
  RETURN translate(rtrim(encode(bytes, 'base64'), '='), '+/', '-_');

-- In two parts, since either is exact as a floating-point number and the whole may not be.
CREATE FUNCTION moment(millis bigint) RETURNS timestamptz
  LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
  RETURN to_timestamp(millis / 1000) + millis % 1000 * interval '1 millisecond';

-- A length of seven bits a byte, and where it ends.
CREATE FUNCTION packed_length(row_value bytea, INOUT at integer, OUT size integer)
  LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
  shift integer := 0;
BEGIN
  size := 0;
  LOOP
    size := size | ((get_byte(row_value, at) & 127) << shift);
    at := at + 1;
    EXIT WHEN get_byte(row_value, at - 1) < 128;
    shift := shift + 7;
  END LOOP;
END
$$;

-- Null for a row of another form.
CREATE FUNCTION packed_type(row_value bytea) RETURNS text
  LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
  SET search_path FROM CURRENT AS $$
DECLARE
  part record;
BEGIN
  IF substring(row_value FROM 1 FOR 1) NOT IN ('\x02', '\x03') THEN
    RETURN NULL;
  END IF;
  part := packed_length(row_value, 1);
  RETURN convert_from(unpacked(substring(row_value FROM part.at + 1 FOR part.size)), 'UTF8');
EXCEPTION WHEN data_exception OR array_subscript_error THEN
  RETURN NULL;
END
$$;

CREATE FUNCTION packed_document(row_value bytea, OUT payload bytea, OUT signatures json)
  LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
  SET search_path FROM CURRENT AS $$
DECLARE
  part record;
  at integer;
  found json[] := '{}';
BEGIN
  part := packed_length(row_value, 1);
  at := part.at + part.size + 1;
  FOR i IN 1 .. get_byte(row_value, at - 1) LOOP
    part := packed_length(row_value, at + 32);
    found := found || json_build_object(
      'keyid', base64url(substring(row_value FROM at + 1 FOR 32)),
      'sig', translate(encode(substring(row_value FROM part.at + 1 FOR part.size), 'base64'), E'\n', ''));
    at := part.at + part.size;
  END LOOP;
  payload := substring(row_value FROM at + 1);
  IF get_byte(row_value, 0) = 2 THEN
    payload := unpacked(payload);
  END IF;
  signatures := array_to_json(found);
EXCEPTION WHEN data_exception OR array_subscript_error THEN
  payload := NULL;
  signatures := NULL;
END
$$;

CREATE FUNCTION packed_event(row_value bytea, OUT kind text, OUT at_ms bigint, OUT body bytea)
  LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
  SET search_path FROM CURRENT AS $$
DECLARE
  flags integer := get_byte(row_value, 9);
BEGIN
  at_ms := number(substring(row_value FROM 11 FOR 8));
  body := substring(row_value FROM 19 FOR 32);
  kind := convert_from(
    unpacked(substring(row_value FROM 51 + 32 * (flags & 1) + 16 * (flags & 2))), 'UTF8');
EXCEPTION WHEN data_exception OR array_subscript_error THEN
  kind := NULL;
END
$$;

-- OFFSET 0 keeps a payload from being made again for each of its fields.
CREATE OR REPLACE VIEW documents AS
  SELECT d.cell, id(d.key) AS id, coalesce(d.payload_type, packed_type(d.value)) AS payload_type,
    p.payload, p.signatures
  FROM document d CROSS JOIN LATERAL (
    SELECT payload_json(coalesce(d.payload, q.payload)) AS payload,
      coalesce(d.signatures, q.signatures) AS signatures
    FROM packed_document(d.value) q OFFSET 0
  ) p
  WHERE coalesce(d.payload_type, packed_type(d.value)) IS NOT NULL;

CREATE OR REPLACE VIEW events AS
  SELECT cell, number(substring(value FROM 1 FOR 8)) AS position,
    convert_from(substring(key FROM 1 FOR position('\x00'::bytea IN key) - 1), 'UTF8') AS tenant,
    convert_from(
      substring(key FROM position('\x00'::bytea IN key) + 1
        FOR length(key) - position('\x00'::bytea IN key) - 9), 'UTF8') AS run,
    number(substring(key FROM length(key) - 7)) AS seq,
    coalesce(e.kind, p.kind) AS kind, moment(coalesce(e.at_ms, p.at_ms)) AS at,
    id(coalesce(e.body, p.body)) AS body
  FROM event e CROSS JOIN LATERAL (
    SELECT q.kind, q.at_ms, q.body FROM packed_event(
      CASE WHEN e.kind IS NULL AND substring(e.value FROM 9 FOR 1) = '\x02' THEN e.value END) q OFFSET 0
  ) p
  WHERE coalesce(e.kind, p.kind) IS NOT NULL;
