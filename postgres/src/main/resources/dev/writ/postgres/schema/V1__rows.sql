-- One row for each log; its one writer changes it with every write.
CREATE TABLE cell (
  cell integer PRIMARY KEY,
  format integer NOT NULL,
  epoch bigint NOT NULL,
  owner text NOT NULL,
  sessions bigint NOT NULL,
  size bigint NOT NULL,
  writes bigint NOT NULL
);

-- The families of spec/storage.md. Keys are compared as unsigned bytes.
CREATE TABLE meta (cell integer, key bytea, value bytea NOT NULL, PRIMARY KEY (cell, key));
CREATE TABLE log (cell integer, key bytea, value bytea NOT NULL, PRIMARY KEY (cell, key));
CREATE TABLE run (cell integer, key bytea, value bytea NOT NULL, PRIMARY KEY (cell, key));
CREATE TABLE blob (cell integer, key bytea, value bytea NOT NULL, PRIMARY KEY (cell, key));
CREATE TABLE file (cell integer, key bytea, value bytea NOT NULL, PRIMARY KEY (cell, key));
CREATE TABLE table_row (cell integer, key bytea, value bytea NOT NULL, PRIMARY KEY (cell, key));
CREATE TABLE checkpoint (cell integer, key bytea, value bytea NOT NULL, PRIMARY KEY (cell, key));

-- kind, at_ms (since 1970) and body repeat what value holds, for people who read it.
CREATE TABLE event (
  cell integer,
  key bytea,
  value bytea NOT NULL,
  kind text,
  at_ms bigint,
  body bytea,
  PRIMARY KEY (cell, key)
);

-- A document in its parts, or a row that is no document as it is.
CREATE TABLE document (
  cell integer,
  key bytea,
  payload_type text,
  payload bytea,
  signatures json,
  value bytea,
  PRIMARY KEY (cell, key),
  CHECK ((value IS NULL) = (payload IS NOT NULL AND payload_type IS NOT NULL AND signatures IS NOT NULL))
);

CREATE FUNCTION id(digest bytea) RETURNS text
  LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
  RETURN 'sha256:' || encode(digest, 'hex');

CREATE FUNCTION number(bytes bytea) RETURNS bigint
  LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
  RETURN ('x' || encode(bytes, 'hex'))::bit(64)::bigint;

-- Null for what jsonb cannot hold: other bytes than JSON, or a string with U+0000.
CREATE FUNCTION payload_json(payload bytea) RETURNS jsonb LANGUAGE plpgsql IMMUTABLE STRICT AS $$
BEGIN
  RETURN convert_from(payload, 'UTF8')::jsonb;
EXCEPTION WHEN data_exception OR program_limit_exceeded OR statement_too_complex THEN
  RETURN NULL;
END
$$;

CREATE VIEW cells AS
  SELECT c.cell, convert_from(m.value, 'UTF8') AS origin, c.owner, c.epoch, c.size
  FROM cell c LEFT JOIN meta m ON m.cell = c.cell AND m.key = 'origin';

CREATE VIEW documents AS
  SELECT cell, id(key) AS id, payload_type, payload_json(payload) AS payload, signatures
  FROM document
  WHERE payload IS NOT NULL;

-- No field is converted: one row of another form would make the whole view fail.
CREATE VIEW receipts AS
  SELECT cell, id, payload->>'tenant' AS tenant, payload->>'run' AS run,
    payload->>'subject' AS subject, payload->'lamport' AS lamport,
    payload->>'request' AS request, payload->>'decision' AS decision,
    payload->>'status' AS status, payload->>'reason' AS reason,
    payload->>'finished_at' AS finished_at, payload, signatures
  FROM documents
  WHERE payload_type = 'application/vnd.writ.receipt.v1+json';

CREATE VIEW decisions AS
  SELECT cell, id, payload->>'tenant' AS tenant, payload->>'run' AS run,
    payload->>'subject' AS subject, payload->>'request' AS request,
    payload->>'verdict' AS verdict, payload->>'decided_at' AS decided_at,
    payload, signatures
  FROM documents
  WHERE payload_type = 'application/vnd.writ.decision.v1+json';

-- One row for each decision: what was asked for, what was decided, how it ended.
CREATE VIEW effects AS
  SELECT d.cell, d.tenant, d.run, d.subject, d.request, d.id AS decision, c.id AS receipt,
    r.payload->'effect'->>'tool' AS tool, r.payload->'effect'->>'operation' AS operation,
    d.verdict, d.decided_at, c.status, c.reason, c.finished_at,
    r.payload->'effect' AS effect
  FROM decisions d
  LEFT JOIN documents r ON r.cell = d.cell AND r.id = d.request
    AND r.payload_type = 'application/vnd.writ.request.v1+json'
  LEFT JOIN receipts c ON c.cell = d.cell AND c.decision = d.id;

CREATE VIEW events AS
  SELECT cell, number(substring(value FROM 1 FOR 8)) AS position,
    convert_from(substring(key FROM 1 FOR position('\x00'::bytea IN key) - 1), 'UTF8') AS tenant,
    convert_from(
      substring(key FROM position('\x00'::bytea IN key) + 1
        FOR length(key) - position('\x00'::bytea IN key) - 9), 'UTF8') AS run,
    number(substring(key FROM length(key) - 7)) AS seq,
    -- In two parts, since either is exact as a floating-point number and the whole may not be.
    kind, to_timestamp(at_ms / 1000) + at_ms % 1000 * interval '1 millisecond' AS at,
    id(body) AS body
  FROM event
  WHERE kind IS NOT NULL;
