package dev.writ.grpc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import com.google.protobuf.ByteString;
import com.google.protobuf.UnknownFieldSet;
import com.google.rpc.ErrorInfo;
import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.gateway.http.Listen;
import dev.writ.gateway.http.Observer;
import dev.writ.grpc.proto.ToolGatewayGrpc;
import dev.writ.grpc.proto.ToolGatewayProto.Artifact;
import dev.writ.grpc.proto.ToolGatewayProto.EventsRequest;
import dev.writ.grpc.proto.ToolGatewayProto.ExecEvent;
import dev.writ.grpc.proto.ToolGatewayProto.ExecRequest;
import dev.writ.grpc.proto.ToolGatewayProto.ExecResponse;
import dev.writ.guardian.document.Request;
import io.grpc.Attributes;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.ClientInterceptor;
import io.grpc.ForwardingClientCall;
import io.grpc.ForwardingClientCallListener;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.health.v1.HealthCheckRequest;
import io.grpc.health.v1.HealthCheckResponse.ServingStatus;
import io.grpc.health.v1.HealthGrpc;
import io.grpc.netty.NettyChannelBuilder;
import io.grpc.protobuf.StatusProto;
import io.grpc.reflection.v1.ServerReflectionGrpc;
import io.grpc.reflection.v1.ServerReflectionRequest;
import io.grpc.reflection.v1.ServerReflectionResponse;
import io.grpc.reflection.v1.ServiceResponse;
import io.grpc.stub.StreamObserver;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Seed 002 over gRPC as its clients meet it, by grpc-java's own client. */
class TheToolGatewayOverGrpcTest {
  @TempDir private static Path dir;
  private static GrpcToolServer server;

  @BeforeAll
  static void start() {
    server = new GrpcToolServer(dir, Listen.loopback(0));
  }

  @AfterAll
  static void stop() {
    server.close();
  }

  private static StatusRuntimeException refused(ExecRequest request) {
    int runs = server.seed.home.driver.runs().size();
    StatusRuntimeException e =
        catchThrowableOfType(StatusRuntimeException.class, () -> server.as("alice").exec(request));
    assertThat(server.seed.home.driver.runs()).hasSize(runs);
    return e;
  }

  @Test
  void theSeedsOwnExampleIsAnsweredInItsFields() {
    AtomicReference<Metadata> trailers = new AtomicReference<>();
    ExecResponse response =
        server
            .as("alice")
            .withInterceptors(trailersTo(trailers))
            .exec(GrpcToolServer.example().build());
    assertThat(response.getExecId()).matches("exec-[0-9a-f]{64}");
    assertThat(response.getExitCode()).isZero();
    assertThat(response.getImage()).isEqualTo("python:3.11-bookworm");
    assertThat(response.getStdoutTail()).isEqualTo("1 passed\n");
    assertThat(response.getStderrTail()).isEmpty();
    assertThat(response.getLoggedTo()).isEqualTo("swe:tools:exec:stream");
    assertThat(response.getArtifactsList())
        .containsExactly(
            Artifact.newBuilder().setType("junit_xml").setPath("/artifacts/junit.xml").build());
    assertThat(response.hasAnalysis()).isFalse();
    assertThat(server.seed.home.driver.runs().getLast().invocation().params())
        .isEqualTo(
            Jcs.parse(
                ("{\"argv\":[\"pytest\",\"-q\"],\"cwd\":\"repo\","
                     + "\"env\":{\"PYTHONUNBUFFERED\":\"1\"},\"image\":\"python:3.11-bookworm\"}")
                    .getBytes(StandardCharsets.UTF_8)));
    String request = trailers.get().get(key("writ-request"));
    assertThat(request).isEqualTo("sha256:" + response.getExecId().substring("exec-".length()));
    String receipt = trailers.get().get(key("writ-receipt"));
    assertThat(server.seed.home.document(Digest.parse(receipt)).payloadType()).contains("receipt");
    assertThat(
            server
                .seed
                .get("alice", "/v1/tools/exec/" + response.getExecId() + "/artifacts/junit.xml")
                .body())
        .as("an artifact is fetched over HTTP")
        .containsExactly(1);
  }

  /** The signed request names the digest of what the profile judged: the same JSON as over HTTP. */
  @Test
  void theRequestIsTheOneOfHttp() {
    ExecResponse response = server.as("alice").exec(GrpcToolServer.example().build());
    Request request =
        Request.read(
            server
                .seed
                .home
                .document(Digest.parse("sha256:" + response.getExecId().substring(5)))
                .document());
    byte[] json =
        Jcs.write(
            Jcs.parse(
                """
                {"role": "developer", "case_id": "case-123", "subtask_id": "DEV-123",
                 "cmd": "pytest -q", "cwd": "/workspace/repo", "timeout_sec": 60,
                 "env": {"PYTHONUNBUFFERED": "1"}, "limits": {"cpu": 1.0, "mem_mb": 512}}
                """
                    .getBytes(StandardCharsets.UTF_8)));
    assertThat(request.origin().orElseThrow().raw()).isEqualTo(Digest.sha256(json));
    assertThat(request.origin().orElseThrow().surface()).isEqualTo("tools");
    assertThat(request.origin().orElseThrow().principal()).isEqualTo("alice-token");
  }

  private static Metadata.Key<String> key(String name) {
    return Metadata.Key.of(name, Metadata.ASCII_STRING_MARSHALLER);
  }

  private static ClientInterceptor trailersTo(AtomicReference<Metadata> place) {
    return new ClientInterceptor() {
      @Override
      public <Q, A> ClientCall<Q, A> interceptCall(
          MethodDescriptor<Q, A> method, CallOptions options, Channel next) {
        return new ForwardingClientCall.SimpleForwardingClientCall<>(
            next.newCall(method, options)) {
          @Override
          public void start(Listener<A> listener, Metadata headers) {
            super.start(
                new ForwardingClientCallListener.SimpleForwardingClientCallListener<>(listener) {
                  @Override
                  public void onClose(Status status, Metadata trailers) {
                    place.set(trailers);
                    super.onClose(status, trailers);
                  }
                },
                headers);
          }
        };
      }
    };
  }

  @ParameterizedTest
  @CsvSource({
    "role, devops, PERMISSION_DENIED, GRD-712",
    "cmd, kubectl get pods, PERMISSION_DENIED, GRD-714",
    "cmd, 'echo \"', PERMISSION_DENIED, GRD-713",
    "cwd, /etc, PERMISSION_DENIED, GRD-716",
    "cmd, '', INVALID_ARGUMENT, GRD-711",
    "timeout_sec, 601, PERMISSION_DENIED, GRD-718",
    "timeout_sec, 300, PERMISSION_DENIED, GRD-404",
    "timeout_sec, 9223372036854775807, INVALID_ARGUMENT, GRD-711",
  })
  void eachRefusalHasTheCodeOfHttp(String field, String value, Status.Code status, String code)
      throws Exception {
    var descriptor = ExecRequest.getDescriptor().findFieldByName(field);
    Object typed = field.equals("timeout_sec") ? (Object) Long.parseLong(value) : value;
    StatusRuntimeException e =
        refused(GrpcToolServer.example().setField(descriptor, typed).build());
    assertThat(e.getStatus().getCode()).as(e.toString()).isEqualTo(status);
    assertThat(GrpcToolServer.code(e)).isEqualTo(code);
    ErrorInfo info = StatusProto.fromThrowable(e).getDetails(0).unpack(ErrorInfo.class);
    assertThat(info.getReason()).isEqualTo(code);
    assertThat(info.getDomain()).isEqualTo("writ");
    assertThat(info.getMetadataMap()).containsKeys("title", "detail", "trace_id");
    if (code.equals("GRD-404")) { // judged, not refused by the profile: it says what would help
      assertThat(info.getMetadataOrThrow("help"))
          .endsWith("\nDeclare at most 60000 wall_ms instead of 300000.");
      assertThat(info.getMetadataOrThrow("guidance")).contains("\"most\":60000");
    } else {
      assertThat(info.getMetadataMap()).doesNotContainKeys("help", "guidance");
    }
  }

  @ParameterizedTest
  @CsvSource({"NaN", "Infinity", "-1", "0"})
  void aShareOfProcessorsIsANumberAboveNull(double cpu) {
    ExecRequest.Builder request = GrpcToolServer.example();
    request.getLimitsBuilder().setCpu(cpu);
    assertThat(GrpcToolServer.code(refused(request.build()))).isEqualTo("GRD-711");
  }

  @Test
  void fieldsThatTheSeedDoesNotHaveAreRefused() {
    UnknownFieldSet unknown =
        UnknownFieldSet.newBuilder()
            .addField(
                99,
                UnknownFieldSet.Field.newBuilder()
                    .addLengthDelimited(ByteString.copyFromUtf8("x"))
                    .build())
            .build();
    ExecRequest.Builder limits = GrpcToolServer.example();
    limits.getLimitsBuilder().setUnknownFields(unknown);
    for (ExecRequest request :
        List.of(GrpcToolServer.example().setUnknownFields(unknown).build(), limits.build())) {
      assertThat(GrpcToolServer.code(refused(request))).isEqualTo("GRD-711");
    }
  }

  @Test
  void whoShowsNoValidCredentialGetsNothing() {
    for (ToolGatewayGrpc.ToolGatewayBlockingStub stub :
        List.of(
            ToolGatewayGrpc.newBlockingStub(server.channel()),
            server.as("mallory"),
            GrpcToolServer.with(
                ToolGatewayGrpc.newBlockingStub(server.channel()), "Basic YWxpY2U6eA=="))) {
      StatusRuntimeException e =
          catchThrowableOfType(
              StatusRuntimeException.class, () -> stub.exec(GrpcToolServer.example().build()));
      assertThat(e.getStatus().getCode()).isEqualTo(Status.Code.UNAUTHENTICATED);
      assertThat(GrpcToolServer.code(e)).isEqualTo("GWY-020");
      StatusRuntimeException events =
          catchThrowableOfType(
              StatusRuntimeException.class,
              () -> stub.events(EventsRequest.getDefaultInstance()).next());
      assertThat(GrpcToolServer.code(events)).isEqualTo("GWY-020");
    }
  }

  @Test
  void aServerOnLoopbackIsCalledByItsNamesAlone() throws Exception {
    var channel =
        NettyChannelBuilder.forAddress("127.0.0.1", server.port())
            .usePlaintext()
            .overrideAuthority("evil.example")
            .build();
    try {
      var stub =
          GrpcToolServer.with(ToolGatewayGrpc.newBlockingStub(channel), "Bearer token-of-alice");
      StatusRuntimeException e =
          catchThrowableOfType(
              StatusRuntimeException.class, () -> stub.exec(GrpcToolServer.example().build()));
      assertThat(GrpcToolServer.code(e)).isEqualTo("GWY-034");
    } finally {
      channel.shutdownNow().awaitTermination(20, TimeUnit.SECONDS);
    }
  }

  @Test
  void aMessageThatIsTooLargeIsRefused() {
    StatusRuntimeException e =
        refused(GrpcToolServer.example().setCmd("pytest " + "x".repeat(1 << 20)).build());
    assertThat(e.getStatus().getCode()).as(e.toString()).isEqualTo(Status.Code.RESOURCE_EXHAUSTED);
    assertThat(server.as("alice").exec(GrpcToolServer.example().build()).getExitCode()).isZero();
  }

  @Test
  void compressedMessagesAreNotRead() {
    StatusRuntimeException e =
        catchThrowableOfType(
            StatusRuntimeException.class,
            () ->
                server.as("alice").withCompression("gzip").exec(GrpcToolServer.example().build()));
    assertThat(e.getStatus().getCode()).isEqualTo(Status.Code.UNIMPLEMENTED);
  }

  private static List<ExecEvent> events(String as, Optional<Long> after) {
    EventsRequest.Builder request = EventsRequest.newBuilder().setFollow(false);
    after.ifPresent(request::setLastEventId);
    List<ExecEvent> events = new ArrayList<>();
    server.as(as).events(request.build()).forEachRemaining(events::add);
    return events;
  }

  /** Entry by entry what HTTP's stream has. */
  @Test
  void theStreamIsThatOfHttpAndGoesOnWhereAReaderWas() {
    server.as("alice").exec(GrpcToolServer.example().build());
    refused(GrpcToolServer.example().setCmd("kubectl").build());
    List<ExecEvent> events = events("alice", Optional.empty());
    List<String> http = http();
    assertThat(events).hasSizeGreaterThanOrEqualTo(2).hasSameSizeAs(http);
    for (int i = 0; i < events.size(); i++) {
      JsonValue.Obj told = (JsonValue.Obj) Jcs.parse(http.get(i).getBytes(StandardCharsets.UTF_8));
      ExecEvent event = events.get(i);
      assertThat(event.getAllFields()).hasSizeLessThanOrEqualTo(told.members().size() + 1);
      told.members()
          .forEach((name, value) ->
              assertThat(event.getField(ExecEvent.getDescriptor().findFieldByName(name)))
                  .as(name)
                  .isEqualTo(((JsonValue.Str) value).value()));
    }
    assertThat(ExecEvent.getDescriptor().getFields()).hasSize(14);
    assertThat(events.getLast().getEvent()).isEqualTo("tool_denied");
    assertThat(events.getLast().getStderrTail()).isEqualTo("GRD-714");
    long before = events.get(events.size() - 2).getId();
    assertThat(events("alice", Optional.of(before))).containsExactly(events.getLast());
    assertThat(events("bob", Optional.empty())).as("another subject").isEmpty();
    assertThat(events("eve", Optional.empty())).as("another tenant").isEmpty();
    for (long none : List.of(-1L, Long.MAX_VALUE)) {
      StatusRuntimeException e =
          catchThrowableOfType(
              StatusRuntimeException.class, () -> events("alice", Optional.of(none)));
      assertThat(GrpcToolServer.code(e)).as("" + none).isEqualTo("GWY-018");
    }
  }

  private static List<String> http() {
    return server
        .seed
        .get("alice", "/v1/streams/swe:tools:exec:stream?follow=false")
        .text()
        .lines()
        .filter(line -> line.startsWith("data: "))
        .map(line -> line.substring("data: ".length()))
        .toList();
  }

  @Test
  void aReaderThatFollowsGetsWhatHappensNext() throws Exception {
    long last =
        events("alice", Optional.empty()).stream().mapToLong(ExecEvent::getId).max().orElse(0);
    var following =
        server.as("alice").events(EventsRequest.newBuilder().setLastEventId(last).build());
    CompletableFuture<ExecEvent> next = CompletableFuture.supplyAsync(following::next);
    ExecResponse response = server.as("alice").exec(GrpcToolServer.example().build());
    assertThat(next.get(60, TimeUnit.SECONDS).getExecId()).isEqualTo(response.getExecId());
  }

  @Test
  void healthIsToldToAnybody() {
    HealthGrpc.HealthBlockingStub health = HealthGrpc.newBlockingStub(server.channel());
    for (String service : List.of("", "writ.tools.v1.ToolGateway")) {
      HealthCheckRequest request = HealthCheckRequest.newBuilder().setService(service).build();
      assertThat(health.check(request).getStatus()).isEqualTo(ServingStatus.SERVING);
      assertThat(health.watch(request).next().getStatus()).isEqualTo(ServingStatus.SERVING);
    }
    HealthCheckRequest other = HealthCheckRequest.newBuilder().setService("other").build();
    assertThat(health.watch(other).next().getStatus()).isEqualTo(ServingStatus.SERVICE_UNKNOWN);
    StatusRuntimeException e =
        catchThrowableOfType(StatusRuntimeException.class, () -> health.check(other));
    assertThat(e.getStatus().getCode()).isEqualTo(Status.Code.NOT_FOUND);
  }

  /** A connection from this address of the host. */
  private static ManagedChannel from(String address) {
    return NettyChannelBuilder.forAddress("127.0.0.1", server.port())
        .localSocketPicker(
            new NettyChannelBuilder.LocalSocketPicker() {
              @Override
              public SocketAddress createSocketAddress(SocketAddress to, Attributes of) {
                return new InetSocketAddress(address, 0);
              }
            })
        .usePlaintext()
        .build();
  }

  /** Health needs no credential: one host must not keep the others from watching it. */
  @Test
  void noHostHasAllWatches() {
    HealthCheckRequest request = HealthCheckRequest.getDefaultInstance();
    ManagedChannel one = from("127.0.0.3");
    ManagedChannel other = from("127.0.0.2");
    try {
      for (int i = 0; i < 16; i++) {
        assertThat(HealthGrpc.newBlockingStub(one).watch(request).next().getStatus())
            .isEqualTo(ServingStatus.SERVING);
      }
      StatusRuntimeException refused =
          catchThrowableOfType(
              StatusRuntimeException.class,
              () -> HealthGrpc.newBlockingStub(one).watch(request).next());
      assertThat(GrpcToolServer.code(refused)).isEqualTo("GWY-042");
      assertThat(HealthGrpc.newBlockingStub(other).watch(request).next().getStatus())
          .isEqualTo(ServingStatus.SERVING);
    } finally {
      one.shutdownNow();
      other.shutdownNow();
    }
  }

  @Test
  void reflectionNamesTheServices() throws Exception {
    CompletableFuture<ServerReflectionResponse> answer = new CompletableFuture<>();
    StreamObserver<ServerReflectionRequest> out =
        ServerReflectionGrpc.newStub(server.channel())
            .serverReflectionInfo(
                new StreamObserver<>() {
                  @Override
                  public void onNext(ServerReflectionResponse response) {
                    answer.complete(response);
                  }

                  @Override
                  public void onError(Throwable e) {
                    answer.completeExceptionally(e);
                  }

                  @Override
                  public void onCompleted() {}
                });
    out.onNext(ServerReflectionRequest.newBuilder().setListServices("").build());
    assertThat(answer.get(60, TimeUnit.SECONDS).getListServicesResponse().getServiceList())
        .extracting(ServiceResponse::getName)
        .containsExactlyInAnyOrder(
            "grpc.health.v1.Health",
            "grpc.reflection.v1.ServerReflection",
            "writ.tools.v1.ToolGateway");
    out.onCompleted();
  }

  @Test
  void callsAreObservedAsThoseOfHttp() throws Exception {
    server.seed.finished.clear();
    ExecResponse response = server.as("alice").exec(GrpcToolServer.example().build());
    Observer.Finished call = server.seed.finished.poll(60, TimeUnit.SECONDS);
    assertThat(call.surface()).isEqualTo("tools");
    assertThat(call.route()).isEqualTo("/writ.tools.v1.ToolGateway/Exec");
    assertThat(call.status()).isEqualTo(200);
    assertThat(call.caller().orElseThrow().subject()).isEqualTo("alice");
    assertThat(call.request().orElseThrow()).endsWith(response.getExecId().substring(5));
    refused(GrpcToolServer.example().setCmd("kubectl").build());
    Observer.Finished denied = server.seed.finished.poll(60, TimeUnit.SECONDS);
    assertThat(denied.status()).isEqualTo(403);
    assertThat(denied.code()).contains("GRD-714");
  }

  /** What is published is what is served. */
  @Test
  void theProtoFileIsInTheJar() {
    assertThat(ToolGatewayGrpc.class.getResource("/writ/tools/v1/tool_gateway.proto")).isNotNull();
  }
}
