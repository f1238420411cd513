package dev.writ.embed.signer;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.crypto.SigningKey;
import dev.writ.canonicalize.crypto.VerifyingKey;
import dev.writ.embed.error.SignerError;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Optional;

/**
 * The keys of an agent that speaks the protocol of ssh-agent (draft-ietf-sshm-ssh-agent): OpenSSH's
 * own, those of password managers, and those in front of hardware. Of its keys Ed25519 ones are
 * used. Each message has a connection of its own, so an agent may be started anew meanwhile.
 */
public final class SshAgent {
  /** What a key of an agent is named by begins with this. */
  public static final String PREFIX = "agent:";

  private static final String ED25519 = "ssh-ed25519";
  private static final int SIGNATURE_LENGTH = 64;

  private static final int FAILURE = 5;
  private static final int REQUEST_IDENTITIES = 11;
  private static final int IDENTITIES_ANSWER = 12;
  private static final int SIGN_REQUEST = 13;
  private static final int SIGN_RESPONSE = 14;

  /** A person may have to be asked, or to touch a device. */
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  private final Optional<Path> socket;
  private final Duration patience;

  /**
   * @param socket what SSH_AUTH_SOCK names; empty where that is not set
   */
  public SshAgent(Optional<Path> socket) {
    this(socket, PATIENCE);
  }

  SshAgent(Optional<Path> socket, Duration patience) {
    this.socket = socket;
    this.patience = patience;
  }

  /**
   * A key that an agent has.
   *
   * @param blob its public half as SSH encodes it
   */
  record Held(byte[] blob, String comment) {
    /** As {@code ssh-add -l} prints it. */
    String fingerprint() {
      try {
        byte[] digest = MessageDigest.getInstance("SHA-256").digest(blob);
        return "SHA256:" + Base64.getEncoder().withoutPadding().encodeToString(digest);
      } catch (NoSuchAlgorithmException e) {
        throw new IllegalStateException("every JDK has SHA-256", e);
      }
    }

    /** Empty where it is not an Ed25519 key. */
    Optional<VerifyingKey> key() {
      SshWire fields = new SshWire(blob);
      if (!fields.text().equals(ED25519)) {
        return Optional.empty();
      }
      byte[] raw = fields.string();
      fields.end();
      return Optional.of(VerifyingKey.ed25519(raw));
    }
  }

  /**
   * The key that this names.
   *
   * @param name a fingerprint as {@code ssh-add -l} prints it, a key id of ours, or a comment
   * @throws WritException {@code SGN-001} to {@code SGN-007}
   */
  public SigningKey named(String name) {
    List<Held> found = held().stream().filter(held -> isNamed(held, name)).toList();
    if (found.isEmpty()) {
      throw new WritException(SignerError.KEY_ABSENT, "\"" + name + "\"");
    }
    if (found.size() > 1) {
      throw new WritException(
          SignerError.KEY_AMBIGUOUS,
          "\"" + name + "\" is the comment of " + found.stream().map(Held::fingerprint).toList());
    }
    Held held = found.getFirst();
    VerifyingKey key =
        held.key()
            .orElseThrow(
                () -> new WritException(SignerError.KEY_KIND, new SshWire(held.blob()).text()));
    return SigningKey.outside(key, message -> sign(held.blob(), message));
  }

  private static boolean isNamed(Held held, String name) {
    return held.fingerprint().equals(name)
        || held.comment().equals(name)
        || new SshWire(held.blob()).text().equals(ED25519)
            && held.key().map(VerifyingKey::kid).filter(name::equals).isPresent();
  }

  /**
   * The key with this public half.
   *
   * @throws WritException {@code SGN-001} to {@code SGN-007}
   */
  public SigningKey of(VerifyingKey key) {
    byte[] blob = blob(key);
    if (held().stream().noneMatch(held -> Arrays.equals(held.blob(), blob))) {
      throw new WritException(SignerError.KEY_ABSENT, new Held(blob, "").fingerprint());
    }
    return SigningKey.outside(key, message -> sign(blob, message));
  }

  private static byte[] blob(VerifyingKey key) {
    ByteArrayOutputStream blob = new ByteArrayOutputStream();
    SshWire.put(blob, ED25519.getBytes(StandardCharsets.US_ASCII));
    SshWire.put(blob, key.bytes());
    return blob.toByteArray();
  }

  private List<Held> held() {
    SshWire answer = ask(new byte[] {REQUEST_IDENTITIES}, IDENTITIES_ANSWER);
    int count = answer.uint32();
    List<Held> all = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      all.add(new Held(answer.string(), answer.text()));
    }
    answer.end();
    return all;
  }

  private byte[] sign(byte[] blob, byte[] message) {
    ByteArrayOutputStream request = new ByteArrayOutputStream();
    request.write(SIGN_REQUEST);
    SshWire.put(request, blob);
    SshWire.put(request, message);
    request.writeBytes(SshWire.uint32(0));
    if (request.size() > AgentSocket.MESSAGE_MAX) {
      throw new WritException(SignerError.TOO_LONG, message.length + " bytes");
    }
    SshWire answer = ask(request.toByteArray(), SIGN_RESPONSE);
    SshWire signature = new SshWire(answer.string());
    answer.end();
    String algorithm = signature.text();
    byte[] bytes = signature.string();
    signature.end();
    if (!algorithm.equals(ED25519) || bytes.length != SIGNATURE_LENGTH) {
      throw new WritException(
          SignerError.GARBAGE, "a signature of " + bytes.length + " bytes of another algorithm");
    }
    return bytes;
  }

  private SshWire ask(byte[] message, int expected) {
    Path at =
        socket.orElseThrow(
            () -> new WritException(SignerError.NO_AGENT, "SSH_AUTH_SOCK is not set"));
    byte[] answer = AgentSocket.exchange(at, message, patience);
    int type = answer[0] & 0xff;
    if (type == FAILURE) {
      throw new WritException(
          message[0] == SIGN_REQUEST ? refusal(message) : SignerError.REFUSED, at.toString());
    }
    if (type != expected) {
      throw new WritException(SignerError.GARBAGE, "an answer of type " + type);
    }
    return new SshWire(Arrays.copyOfRange(answer, 1, answer.length));
  }

  /** An agent says no in the same way whether it may not sign or has no such key. */
  private SignerError refusal(byte[] request) {
    SshWire fields = new SshWire(Arrays.copyOfRange(request, 1, request.length));
    byte[] blob = fields.string();
    boolean has = held().stream().anyMatch(held -> Arrays.equals(held.blob(), blob));
    return has ? SignerError.REFUSED : SignerError.KEY_ABSENT;
  }
}
