package dev.writ.embed.signer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.writ.canonicalize.crypto.SigningKey;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.Channels;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Agents of the test, each of which does one thing wrong: spec/keys.md, 30 and 31. */
class AnAgentThatMisbehavesSignsNothingTest {
  private static final byte[] MESSAGE = "DSSEv1 of the test".getBytes(StandardCharsets.UTF_8);
  private static final Duration SOON = Duration.ofMillis(200);

  @TempDir Path dir;

  private final SigningKey key = SigningKey.generateEd25519(new SecureRandom());
  private final SigningKey other = SigningKey.generateEd25519(new SecureRandom());
  private ServerSocketChannel listener;
  private Thread thread;

  /** What it answers to a request to sign; null to close the connection. */
  private volatile UnaryOperator<byte[]> signs =
      request -> signature("ssh-ed25519", key.sign(MESSAGE));

  /** What it answers to the question for its keys; null to close the connection. */
  private volatile UnaryOperator<byte[]> lists = _ -> identities(blob("ssh-ed25519", key), "mine");

  @BeforeEach
  void listen() throws IOException {
    listener = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
    listener.bind(UnixDomainSocketAddress.of(dir.resolve("agent")));
    thread = Thread.ofVirtual().start(this::serve);
  }

  @AfterEach
  void close() throws Exception {
    listener.close();
    thread.join();
  }

  private void serve() {
    while (listener.isOpen()) {
      try (SocketChannel channel = listener.accept()) {
        DataInputStream in = new DataInputStream(Channels.newInputStream(channel));
        DataOutputStream out = new DataOutputStream(Channels.newOutputStream(channel));
        byte[] request = in.readNBytes(in.readInt());
        byte[] answer = (request[0] == 13 ? signs : lists).apply(request);
        if (answer != null) {
          out.write(answer);
          out.flush();
          in.read(); // until the asker leaves
        }
      } catch (IOException e) {
        continue; // the asker left, or the test is over
      }
    }
  }

  private static byte[] message(int type, byte[]... parts) {
    ByteArrayOutputStream body = new ByteArrayOutputStream();
    body.write(type);
    for (byte[] part : parts) {
      body.writeBytes(part);
    }
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    all.writeBytes(SshWire.uint32(body.size()));
    all.writeBytes(body.toByteArray());
    return all.toByteArray();
  }

  private static byte[] string(byte[]... parts) {
    ByteArrayOutputStream content = new ByteArrayOutputStream();
    for (byte[] part : parts) {
      content.writeBytes(part);
    }
    ByteArrayOutputStream string = new ByteArrayOutputStream();
    SshWire.put(string, content.toByteArray());
    return string.toByteArray();
  }

  private static byte[] text(String text) {
    return string(text.getBytes(StandardCharsets.UTF_8));
  }

  private static byte[] blob(String algorithm, SigningKey key) {
    byte[] blob = string(text(algorithm), string(key.verifyingKey().bytes()));
    return Arrays.copyOfRange(blob, 4, blob.length);
  }

  private static byte[] identities(byte[] blob, String... comments) {
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    for (String comment : comments) {
      all.writeBytes(string(blob));
      all.writeBytes(text(comment));
    }
    return message(12, SshWire.uint32(comments.length), all.toByteArray());
  }

  private static byte[] signature(String algorithm, byte[] bytes) {
    return message(14, string(text(algorithm), string(bytes)));
  }

  private SshAgent agent() {
    return new SshAgent(Optional.of(dir.resolve("agent")), SOON);
  }

  @Test
  void one_that_does_as_it_should_signs() {
    // The agent of this test is no cause of the refusals below.
    assertThat(agent().named("mine").sign(MESSAGE)).isEqualTo(key.sign(MESSAGE));
    assertThat(agent().named(key.kid()).kid()).isEqualTo(key.kid());
    assertThat(agent().of(key.verifyingKey()).sign(MESSAGE)).isEqualTo(key.sign(MESSAGE));
  }

  private static List<Arguments> wrongSignatures() {
    SigningKey mine = SigningKey.generateEd25519(new SecureRandom());
    byte[] right = mine.sign(MESSAGE);
    return List.of(
        Arguments.of("of another key", "CAN-078", signature("ssh-ed25519", right)),
        Arguments.of("of zeros", "CAN-078", signature("ssh-ed25519", new byte[64])),
        Arguments.of("too short", "SGN-006", signature("ssh-ed25519", Arrays.copyOf(right, 63))),
        Arguments.of("too long", "SGN-006", signature("ssh-ed25519", Arrays.copyOf(right, 65))),
        Arguments.of("of another algorithm", "SGN-006", signature("rsa-sha2-256", right)),
        Arguments.of("empty", "SGN-006", message(14)),
        Arguments.of("cut off", "SGN-006", message(14, SshWire.uint32(83), new byte[5])),
        Arguments.of("of a huge length", "SGN-006", message(14, SshWire.uint32(-1))),
        Arguments.of(
            "with more behind it",
            "SGN-006",
            message(14, string(text("ssh-ed25519"), string(right)), new byte[1])),
        Arguments.of("of another type", "SGN-006", message(12, SshWire.uint32(0))),
        Arguments.of("of no bytes", "SGN-006", SshWire.uint32(0)),
        Arguments.of("of 2 GiB", "SGN-006", SshWire.uint32(Integer.MAX_VALUE)),
        Arguments.of("of a negative length", "SGN-006", SshWire.uint32(-5)),
        Arguments.of(
            "no protocol at all",
            "SGN-006",
            "HTTP/1.1 400 Bad Request\r\n\r\n".getBytes(StandardCharsets.US_ASCII)),
        Arguments.of("nothing", "SGN-007", new byte[0]),
        Arguments.of(
            "half an answer", "SGN-007", Arrays.copyOf(signature("ssh-ed25519", right), 40)));
  }

  @ParameterizedTest(name = "{0}: {1}")
  @MethodSource("wrongSignatures")
  void a_wrong_answer_is_no_signature(String what, String code, byte[] answer) {
    SigningKey named = agent().named("mine");
    signs = _ -> answer;
    assertThatThrownBy(() -> named.sign(MESSAGE)).as(what).hasMessageContaining(code);
  }

  @Test
  void the_signature_of_another_message_is_none() {
    SigningKey named = agent().named("mine");
    signs = _ -> signature("ssh-ed25519", key.sign("another".getBytes(StandardCharsets.UTF_8)));
    assertThatThrownBy(() -> named.sign(MESSAGE)).hasMessageContaining("CAN-078");
    signs = _ -> signature("ssh-ed25519", other.sign(MESSAGE));
    assertThatThrownBy(() -> named.sign(MESSAGE)).hasMessageContaining("CAN-078");
  }

  @Test
  void one_that_refuses_or_lost_the_key_is_told_apart() {
    SigningKey named = agent().named("mine");
    signs = _ -> message(5);
    assertThatThrownBy(() -> named.sign(MESSAGE)).hasMessageContaining("SGN-005");
    lists = _ -> identities(new byte[0]);
    assertThatThrownBy(() -> named.sign(MESSAGE)).hasMessageContaining("SGN-002");
    lists = _ -> message(5);
    assertThatThrownBy(() -> agent().named("mine")).hasMessageContaining("SGN-005");
  }

  @Test
  void one_that_ends_meanwhile_is_lost_and_one_that_is_not_there_is_none() throws Exception {
    SigningKey named = agent().named("mine");
    signs = _ -> null;
    assertThatThrownBy(() -> named.sign(MESSAGE)).hasMessageContaining("SGN-007");
    listener.close();
    thread.join();
    assertThatThrownBy(() -> named.sign(MESSAGE)).hasMessageContaining("SGN-001");
    assertThatThrownBy(() -> new SshAgent(Optional.empty()).named("mine"))
        .hasMessageContaining("SGN-001")
        .hasMessageContaining("SSH_AUTH_SOCK");
    assertThatThrownBy(() -> new SshAgent(Optional.of(dir.resolve("nobody"))).named("mine"))
        .hasMessageContaining("SGN-001");
  }

  private static Stream<Arguments> wrongLists() {
    SigningKey mine = SigningKey.generateEd25519(new SecureRandom());
    byte[] blob = blob("ssh-ed25519", mine);
    return Stream.of(
        Arguments.of("SGN-002", identities(blob, "other")),
        Arguments.of("SGN-002", identities(blob)),
        Arguments.of("SGN-003", identities(blob, "mine", "mine")),
        Arguments.of("SGN-004", identities(blob("sk-ssh-ed25519@openssh.com", mine), "mine")),
        Arguments.of("SGN-006", identities(new byte[0], "mine")),
        Arguments.of("SGN-006", identities(Arrays.copyOf(blob, blob.length - 1), "mine")),
        Arguments.of("SGN-006", identities(Arrays.copyOf(blob, blob.length + 1), "mine")),
        Arguments.of("SGN-006", message(12, SshWire.uint32(1000))),
        Arguments.of("SGN-006", message(12, SshWire.uint32(0), new byte[3])),
        Arguments.of("SGN-007", new byte[] {0, 0}));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("wrongLists")
  void a_wrong_list_names_no_key(String code, byte[] answer) {
    lists = _ -> answer;
    assertThatThrownBy(() -> agent().named("mine")).hasMessageContaining(code);
  }

  @Test
  void a_weak_key_is_no_key() {
    byte[] weak = string(text("ssh-ed25519"), string(new byte[32]));
    lists = _ -> identities(Arrays.copyOfRange(weak, 4, weak.length), "mine");
    assertThatThrownBy(() -> agent().named("mine")).hasMessageContaining("CAN-051");
  }

  @Test
  void a_message_that_no_agent_takes_is_not_sent() {
    SigningKey named = agent().named("mine");
    signs = _ -> message(5);
    assertThatThrownBy(() -> named.sign(new byte[256 << 10])).hasMessageContaining("SGN-008");
  }
}
