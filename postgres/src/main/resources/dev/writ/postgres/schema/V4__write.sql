-- A write and its commit are one message: what must not be committed has to fail.
CREATE FUNCTION require_written(which integer, its_epoch bigint, its_writes bigint) RETURNS void
  LANGUAGE plpgsql AS $$
BEGIN
  IF NOT EXISTS (SELECT FROM cell WHERE cell = which AND epoch = its_epoch AND writes = its_writes)
  THEN
    RAISE EXCEPTION 'another writer has cell %, or its log has another size', which
      USING ERRCODE = 'WR074';
  END IF;
END
$$;
