package dev.writ.grpc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.writ.gateway.TestCertificates;
import dev.writ.gateway.http.Listen;
import dev.writ.grpc.proto.ToolGatewayGrpc;
import io.grpc.ManagedChannel;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.netty.GrpcSslContexts;
import io.grpc.netty.NettyChannelBuilder;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslProvider;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * With {@code tls: own} gRPC has the same certificate and asks for the same client certificates.
 */
class TlsIsThatOfHttpTest {
  @TempDir private Path dir;

  private ManagedChannel channel(int port, TestCertificates certificates, Optional<String> client)
      throws Exception {
    SslContextBuilder builder =
        SslContextBuilder.forClient().trustManager(certificates.pem("authority").toFile());
    client.ifPresent(name ->
        builder.keyManager(certificates.pem(name).toFile(), certificates.key(name).toFile()));
    return NettyChannelBuilder.forAddress("127.0.0.1", port)
        .sslContext(GrpcSslContexts.configure(builder, SslProvider.JDK).build())
        .build();
  }

  private static int exec(ManagedChannel channel) {
    return GrpcToolServer.with(ToolGatewayGrpc.newBlockingStub(channel), "Bearer token-of-alice")
        .exec(GrpcToolServer.example().build())
        .getExitCode();
  }

  private static StatusRuntimeException refused(ManagedChannel channel) {
    return catchThrowableOfType(StatusRuntimeException.class, () -> exec(channel));
  }

  @Test
  void aClientWithACertificateOfTheAuthorityIsServedAndOthersGetNoConnection() throws Exception {
    TestCertificates certificates =
        new TestCertificates(dir)
            .authority("authority")
            .authority("foreign")
            .issue("server", "/CN=server", "authority")
            .issue("client", "/O=acme/CN=builder", "authority")
            .issue("stranger", "/O=acme/CN=builder", "foreign");
    Listen listen =
        new Listen(
            "127.0.0.1",
            0,
            new Listen.Protection.Tls(
                certificates.pem("server"),
                certificates.key("server"),
                Optional.of(new Listen.Clients(certificates.pem("authority"), true))));
    try (GrpcToolServer server =
        new GrpcToolServer(Files.createDirectory(dir.resolve("home")), listen)) {
      ManagedChannel known = channel(server.port(), certificates, Optional.of("client"));
      assertThat(exec(known)).isZero();
      ManagedChannel anonymous = channel(server.port(), certificates, Optional.empty());
      assertThat(refused(anonymous).getStatus().getCode()).isEqualTo(Status.Code.UNAVAILABLE);
      ManagedChannel stranger = channel(server.port(), certificates, Optional.of("stranger"));
      assertThat(refused(stranger).getStatus().getCode()).isEqualTo(Status.Code.UNAVAILABLE);
      ManagedChannel plain =
          NettyChannelBuilder.forAddress("127.0.0.1", server.port()).usePlaintext().build();
      assertThat(refused(plain).getStatus().getCode()).isEqualTo(Status.Code.UNAVAILABLE);
      assertThat(server.seed.home.driver.runs()).hasSize(1);
      for (ManagedChannel each : new ManagedChannel[] {known, anonymous, stranger, plain}) {
        each.shutdownNow();
      }
    }
  }
}
