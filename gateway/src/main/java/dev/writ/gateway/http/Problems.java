package dev.writ.gateway.http;

import dev.writ.canonicalize.CanonicalizeError;
import dev.writ.canonicalize.ErrorCode;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.executor.error.ExecutorError;
import dev.writ.gateway.error.GatewayError;
import dev.writ.gateway.http.message.HttpAnswer;
import dev.writ.gateway.http.message.TraceContext;
import dev.writ.gateway.schedule.LaneError;
import dev.writ.guardian.error.GuardianError;
import dev.writ.ledger.error.LedgerError;
import java.util.Map;
import java.util.TreeMap;

/** Refusals in HTTP: a status for each code, and problem+json (RFC 9457). */
public final class Problems {
  public static final String MEDIA_TYPE = "application/problem+json";

  private static final int DETAIL_UNITS_MAX = 2_000;

  /** The status for a code's prefix, used if {@link #BY_CODE} has no entry for the whole code. */
  private static final Map<String, Integer> BY_PREFIX =
      new TreeMap<>(
          Map.ofEntries(
              Map.entry("CAN", 400),
              Map.entry("GRD", 400),
              Map.entry("LED", 503),
              Map.entry("EXE", 409),
              Map.entry("SBX", 503),
              Map.entry("TOL", 422),
              Map.entry("RPL", 409),
              Map.entry("GWY", 400),
              Map.entry("ERR", 409),
              Map.entry("SGN", 503),
              Map.entry("PGS", 503),
              Map.entry("OBJ", 503)));

  private static final Map<String, Integer> BY_CODE = new TreeMap<>();

  static {
    status(421, ExecutorError.OTHER_CELL, ExecutorError.NOT_SYSTEM_CELL, GatewayError.OTHER_REGION);
    status(
        503,
        ExecutorError.CELL_BEHIND,
        ExecutorError.CELL_ELSEWHERE,
        ExecutorError.TENANT_ON_ITS_WAY);
    status(
        401,
        CanonicalizeError.KEY_UNKNOWN,
        CanonicalizeError.SIGNATURE_INVALID,
        CanonicalizeError.SIGNATURE_MISSING,
        GatewayError.NOT_AUTHENTICATED,
        GatewayError.SESSION_ENDED,
        GatewayError.SIGN_IN_CODE,
        GatewayError.ACCESS_REFUSED);
    status(
        403,
        CanonicalizeError.KEY_ROLE,
        CanonicalizeError.KEY_WINDOW,
        CanonicalizeError.KEY_REVOKED,
        GuardianError.SIGNER_MISMATCH,
        GuardianError.PRINCIPAL_UNKNOWN,
        GuardianError.ORIGIN_REFUSED,
        GuardianError.TOOL_UNKNOWN,
        ExecutorError.VERDICT,
        ExecutorError.DECISION_SIGNATURE,
        ExecutorError.INTENT_SIGNATURE,
        ExecutorError.BINDING,
        ExecutorError.AUDIENCE,
        ExecutorError.HOLDER,
        ExecutorError.TOOL_NOT_APPROVED,
        ExecutorError.TOOL_PROHIBITED,
        ExecutorError.RUNTIME_NOT_APPROVED,
        ExecutorError.GOVERNANCE_SIGNER,
        ExecutorError.NOT_THE_OPENER,
        GatewayError.NOT_GRANTED,
        GatewayError.CSRF,
        GatewayError.CROSS_SITE,
        GatewayError.NO_SESSION_FOR,
        GatewayError.STORE_REFUSED,
        GatewayError.STATISTICS_OF_ALL,
        GatewayError.NOT_AUDITOR,
        GatewayError.NOT_A_GATEWAY,
        GatewayError.NOT_THE_GUARDIAN,
        GatewayError.SURFACE_KEY);
    status(
        400,
        ExecutorError.MISSING_DECISION,
        ExecutorError.MISSING_INTENT,
        ExecutorError.MISSING_EFFECT,
        ExecutorError.MALFORMED,
        ExecutorError.ORDER_TIME,
        LedgerError.NAME,
        LedgerError.INDEX_RANGE);
    status(
        404,
        ExecutorError.UNKNOWN_ID,
        ExecutorError.NOT_ISSUED,
        LedgerError.BLOB_MISSING,
        GatewayError.UNKNOWN_ID,
        GatewayError.NO_ROUTE);
    status(405, GatewayError.METHOD);
    status(408, GatewayError.TOO_SLOW);
    status(409, GuardianError.NONCE_REUSED, GuardianError.REQUEST_SETTLED);
    status(409, GatewayError.NOT_CANCELLED);
    status(
        410,
        ExecutorError.CONTENT_DELETED,
        ExecutorError.CONTENT_ARCHIVED,
        ExecutorError.BUNDLE_MISSING,
        ExecutorError.BUNDLE_DIFFERS,
        ExecutorError.ARCHIVED_AND_ERASED,
        LedgerError.KEY_MISSING);
    status(
        413,
        GuardianError.REQUEST_TOO_LARGE,
        GatewayError.BODY_TOO_LARGE,
        GatewayError.BODY_NEEDS_CREDENTIAL,
        GatewayError.MEMORY_NEEDED);
    status(415, GatewayError.MEDIA_TYPE);
    status(416, GatewayError.RANGE);
    status(
        422,
        ExecutorError.TOOL_UNKNOWN,
        ExecutorError.INPUT_UNKNOWN,
        ExecutorError.CONSUMED_UNKNOWN,
        GatewayError.IDEMPOTENCY_KEY,
        GatewayError.BLOB_DIGEST);
    status(
        429,
        GatewayError.TENANT_BUSY,
        GatewayError.CREDENTIAL_BUSY,
        GatewayError.ADDRESS_BUSY,
        GatewayError.STREAMS_BUSY,
        GatewayError.SESSIONS_MANY,
        LaneError.QUEUE_FULL,
        LaneError.TENANT_QUEUE_FULL,
        LaneError.TENANT_QUOTA);
    status(421, GatewayError.HOST);
    status(431, GatewayError.HEAD_TOO_LARGE);
    status(505, GatewayError.HTTP_VERSION);
    status(507, LedgerError.QUOTA);
    status(
        503,
        CanonicalizeError.SIGNER_WRONG,
        ExecutorError.DRIVER_MISSING,
        ExecutorError.SANDBOX_MISSING,
        ExecutorError.PREPARE_FAILED,
        ExecutorError.STORE_INTEGRITY,
        ExecutorError.STORE_FAILED,
        ExecutorError.RECEIPT_FAILED,
        ExecutorError.TIME_WENT_BACK,
        ExecutorError.TIME_LEAPT,
        LedgerError.TIME_BACK,
        ExecutorError.NO_POLICY,
        ExecutorError.OWN_KEY,
        ExecutorError.STATE_MOVED,
        ExecutorError.EXECUTOR_ABSENT,
        ExecutorError.OUTCOME_AWAITED,
        ExecutorError.SYSTEM_BEHIND,
        ExecutorError.ANSWER_WRONG,
        GuardianError.JUDGED_LATE,
        GatewayError.READ_NOT_RECORDED,
        GatewayError.STORAGE,
        GatewayError.STORAGE_BUSY,
        GatewayError.SERVER_BUSY,
        GatewayError.UNVERIFIED_BUSY,
        GatewayError.MEMORY_BUSY,
        GatewayError.ALL_STREAMS_BUSY,
        GatewayError.SIGNATURES_FULL,
        GatewayError.DRAINING,
        GatewayError.NO_OWNER,
        GatewayError.UNKNOWN_TO_OWNER,
        GatewayError.OWNER_LOST,
        GatewayError.NOT_OWNER,
        LaneError.QUEUE_TTL,
        LaneError.GIVEN_UP);
    status(500, GatewayError.INTERNAL);
  }

  private Problems() {}

  private static void status(int status, ErrorCode... codes) {
    for (ErrorCode code : codes) {
      BY_CODE.put(code.code(), status);
    }
  }

  /** The HTTP status of a refusal. */
  public static int status(ErrorCode code) {
    if (code instanceof HttpErrorCode surfaces) {
      return surfaces.httpStatus();
    }
    Integer exact = BY_CODE.get(code.code());
    return exact != null ? exact : BY_PREFIX.getOrDefault(code.code().split("[-_]", 2)[0], 500);
  }

  /** The answer to a refused call; with 429 and 503 it states when to retry. */
  public static HttpAnswer answer(WritException refused, TraceContext trace) {
    int status = status(refused.code());
    HttpAnswer answer =
        HttpAnswer.of(status, MEDIA_TYPE, Jcs.write(json(refused, status, trace)))
            .with("Cache-Control", "no-store");
    if (refused instanceof OutOfRange range) {
      return answer.with("Content-Range", range.contentRange());
    }
    return status == 429 || status == 503 ? answer.with("Retry-After", "1") : answer;
  }

  static JsonValue.Obj json(WritException refused, int status, TraceContext trace) {
    return JsonValue.object()
        .put("type", "urn:writ:error:" + refused.code().code())
        .put("title", refused.code().meaning())
        .put("status", status)
        .put("detail", shortened(refused.found()))
        .put("code", refused.code().code())
        .put("remedy", refused.code().remedy())
        .put("trace_id", trace.traceId())
        .build();
  }

  /** What was found may hold a name as long as the body was. */
  public static String shortened(String found) {
    if (found.length() <= DETAIL_UNITS_MAX) {
      return found;
    }
    int end =
        DETAIL_UNITS_MAX - (Character.isHighSurrogate(found.charAt(DETAIL_UNITS_MAX - 1)) ? 1 : 0);
    return found.substring(0, end) + "…";
  }
}
