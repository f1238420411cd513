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
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
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
    return channel(port, certificates, "authority", client);
  }

  private ManagedChannel channel(
      int port, TestCertificates certificates, String trusted, Optional<String> client)
      throws Exception {
    SslContextBuilder builder =
        SslContextBuilder.forClient().trustManager(certificates.pem(trusted).toFile());
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

  /**
   * With the certificate {@code server}, for clients with certificates alone.
   *
   * @param clients their authority
   */
  private static Listen listen(TestCertificates certificates, String clients) {
    return new Listen(
        "127.0.0.1",
        0,
        new Listen.Protection.Tls(
            certificates.pem("server"),
            certificates.key("server"),
            Optional.of(new Listen.Clients(certificates.pem(clients), true))));
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
    Listen listen = listen(certificates, "authority");
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

  /** Under a running server: its certificate is renewed, and then the authority of its clients. */
  @Test
  void newConnectionsGetTheRenewedCertificateAndOpenOnesAreHeldAgainstTheNewAuthority()
      throws Exception {
    TestCertificates certificates =
        new TestCertificates(dir)
            .authority("authority")
            .authority("clients")
            .authority("next")
            .issue("server", "/CN=server", "authority")
            .issue("client", "/O=acme/CN=builder", "clients")
            .issue("successor", "/O=acme/CN=builder", "next");
    Listen listen = listen(certificates, "clients");
    try (GrpcToolServer server =
        new GrpcToolServer(Files.createDirectory(dir.resolve("home")), listen)) {
      List<ManagedChannel> channels = new ArrayList<>();
      ManagedChannel open = channel(server.port(), certificates, Optional.of("client"));
      channels.add(open);
      assertThat(exec(open)).isZero();

      certificates.issue("server", "/CN=server", "next");
      channels.add(channel(server.port(), certificates, "next", Optional.of("client")));
      assertThat(refused(channels.getLast()).getStatus().getCode())
          .as("before it is read again")
          .isEqualTo(Status.Code.UNAVAILABLE);
      server.seed.renew();
      channels.add(channel(server.port(), certificates, "next", Optional.of("client")));
      assertThat(exec(channels.getLast())).isZero();
      channels.add(channel(server.port(), certificates, Optional.of("client")));
      assertThat(refused(channels.getLast()).getStatus().getCode())
          .isEqualTo(Status.Code.UNAVAILABLE);
      assertThat(exec(open)).as("an open connection goes on").isZero();

      Files.copy(
          certificates.pem("next"),
          certificates.pem("clients"),
          StandardCopyOption.REPLACE_EXISTING);
      server.seed.renew();
      assertThat(GrpcToolServer.code(refused(open))).isEqualTo("GWY-020");
      channels.add(channel(server.port(), certificates, "next", Optional.of("client")));
      assertThat(refused(channels.getLast()).getStatus().getCode())
          .isEqualTo(Status.Code.UNAVAILABLE);
      channels.add(channel(server.port(), certificates, "next", Optional.of("successor")));
      assertThat(exec(channels.getLast())).isZero();
      channels.forEach(ManagedChannel::shutdownNow);
    }
  }
}
