package dev.writ.grpc;

import com.google.protobuf.Any;
import com.google.protobuf.Duration;
import com.google.rpc.ErrorInfo;
import com.google.rpc.RetryInfo;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.gateway.http.Problems;
import dev.writ.gateway.http.message.TraceContext;
import dev.writ.surfaces.tools.ExecCalls;
import io.grpc.Metadata;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.protobuf.StatusProto;
import java.nio.charset.StandardCharsets;

/**
 * Refusals in gRPC: the status that stands for the HTTP status of a code, the code itself in the
 * trailing metadata, and in the details what problem+json has.
 */
public final class GrpcStatuses {
  /** Trailing metadata that holds the code of a refusal. */
  public static final Metadata.Key<String> CODE =
      Metadata.Key.of("writ-code", Metadata.ASCII_STRING_MARSHALLER);

  /** {@code ErrorInfo.domain}. */
  public static final String DOMAIN = "writ";

  private static final Duration RETRY_AFTER = Duration.newBuilder().setSeconds(1).build();

  private GrpcStatuses() {}

  /** The gRPC status for an HTTP status. */
  public static Status.Code of(int httpStatus) {
    return switch (httpStatus) {
      case 400, 405, 415, 416, 421, 422, 505 -> Status.Code.INVALID_ARGUMENT;
      case 401 -> Status.Code.UNAUTHENTICATED;
      case 403 -> Status.Code.PERMISSION_DENIED;
      case 404, 410 -> Status.Code.NOT_FOUND;
      case 408 -> Status.Code.DEADLINE_EXCEEDED;
      case 409 -> Status.Code.FAILED_PRECONDITION;
      case 413, 429, 431, 507 -> Status.Code.RESOURCE_EXHAUSTED;
      case 503 -> Status.Code.UNAVAILABLE;
      case 500 -> Status.Code.INTERNAL;
      default -> Status.Code.UNKNOWN;
    };
  }

  static StatusRuntimeException refusal(WritException e, TraceContext trace) {
    ErrorInfo.Builder info =
        info(e.code().code(), e.code().meaning(), e.found(), trace)
            .putMetadata("remedy", e.code().remedy());
    return exception(
        Problems.status(e.code()), e.code().code(), e.code().meaning(), e.found(), info);
  }

  static StatusRuntimeException denial(ExecCalls.Ended.Denied denied, TraceContext trace) {
    return exception(
        denied.status(),
        denied.code(),
        denied.title(),
        denied.detail(),
        helping(denied, info(denied.code(), denied.title(), denied.detail(), trace)));
  }

  /** What would help, a sentence in a line, and as the JSON that the HTTP surface answers. */
  private static ErrorInfo.Builder helping(ExecCalls.Ended.Denied denied, ErrorInfo.Builder info) {
    denied.remedy().ifPresent(remedy -> info.putMetadata("remedy", remedy));
    denied
        .guidance()
        .ifPresent(guidance ->
            info.putMetadata("help", String.join("\n", guidance.lines()))
                .putMetadata(
                    "guidance", new String(Jcs.write(guidance.toJson()), StandardCharsets.UTF_8)));
    return info;
  }

  private static ErrorInfo.Builder info(
      String code, String title, String detail, TraceContext trace) {
    return ErrorInfo.newBuilder()
        .setReason(code)
        .setDomain(DOMAIN)
        .putMetadata("title", title)
        .putMetadata("detail", detail)
        .putMetadata("trace_id", trace.traceId());
  }

  private static StatusRuntimeException exception(
      int httpStatus, String code, String title, String detail, ErrorInfo.Builder info) {
    com.google.rpc.Status.Builder status =
        com.google.rpc.Status.newBuilder()
            .setCode(of(httpStatus).value())
            .setMessage(code + ": " + title + (detail.isEmpty() ? "" : ": " + detail))
            .addDetails(Any.pack(info.build()));
    if (httpStatus == 429 || httpStatus == 503) {
      status.addDetails(Any.pack(RetryInfo.newBuilder().setRetryDelay(RETRY_AFTER).build()));
    }
    StatusRuntimeException told = StatusProto.toStatusRuntimeException(status.build());
    told.getTrailers().put(CODE, code);
    return told;
  }
}
