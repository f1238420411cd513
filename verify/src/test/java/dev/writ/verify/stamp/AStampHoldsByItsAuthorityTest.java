package dev.writ.verify.stamp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.verify.error.BundleError;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Replies of OpenSSL's authority, and what somebody could make of them. */
class AStampHoldsByItsAuthorityTest {
  private static final byte[] NOTE = "a note\n".getBytes(StandardCharsets.UTF_8);
  private static final Digest STAMPED = Digest.sha256(NOTE);
  private static final StampRequest REQUEST =
      StampRequest.of(STAMPED, new byte[] {(byte) 0x80, 2, 3, 4, 5, 6, 7, 8});

  @TempDir static Path dir;
  private static OpensslAuthority authority;
  private static StampAuthorities believed;
  private static byte[] reply;

  @BeforeAll
  static void stamp() {
    authority = new OpensslAuthority(dir.resolve("one"), "tsa.example");
    believed = StampAuthorities.parse(authority.read("ca.pem"));
    reply = authority.reply(REQUEST.toBytes());
  }

  private static TimeStamp verified(byte[] given) {
    return TimeStamp.verify(given, STAMPED, Optional.of(REQUEST), believed);
  }

  private static void refused(BundleError code, byte[] given) {
    assertThatThrownBy(() -> verified(given))
        .isInstanceOfSatisfying(
            WritException.class, e -> assertThat(e.code()).as(e.getMessage()).isEqualTo(code));
  }

  @Test
  void bothSidesUnderstandEachOther() {
    TimeStamp stamp = verified(reply);
    assertThat(stamp.by()).isEqualTo("CN=tsa.example");
    assertThat(Duration.between(stamp.at(), Instant.now()).abs())
        .isLessThan(Duration.ofHours(1)); // seconds since 1970, and not of another epoch or zone
    assertThat(StampRequest.parse(REQUEST.toBytes()).nonce()).isEqualTo(REQUEST.nonce());
    authority.write("note", NOTE);
    authority.write("kept.tsr", reply);
    assertThat(authority.run("openssl ts -verify -data note -in kept.tsr -CAfile ca.pem"))
        .contains("Verification: OK");
  }

  /** An authority whose clock may be wrong by so much says that it was there that much later. */
  @Test
  void theLatestTimeIsThatOfTheStampAndItsAccuracy() {
    String own = new String(authority.read("tsa.conf"), StandardCharsets.UTF_8);
    authority.write(
        "rough.conf",
        (own + "accuracy = secs:86400, millisecs:500, microsecs:100\n")
            .getBytes(StandardCharsets.UTF_8));
    authority.write("rough.tsq", REQUEST.toBytes());
    authority.run("openssl ts -reply -config rough.conf -queryfile rough.tsq -out rough.tsr");
    byte[] rough = authority.read("rough.tsr");
    Instant stated = verified(rough).at().minusSeconds(86_400).minusNanos(500_100_000);
    assertThat(stated).isBetween(verified(reply).at(), Instant.now());
    assertThat(stated.getNano()).isZero();
  }

  @Test
  void aStampOfSomethingElseIsRefused() {
    StampRequest other = StampRequest.of(Digest.sha256(new byte[1]), new byte[] {1});
    refused(BundleError.STAMP_OTHER, authority.reply(other.toBytes()));
    byte[] repeated = authority.reply(StampRequest.of(STAMPED, new byte[] {9}).toBytes());
    refused(BundleError.STAMP_OTHER, repeated);
    assertThat(TimeStamp.verify(repeated, STAMPED, Optional.empty(), believed).by())
        .as("a nonce counts against a request alone")
        .isEqualTo("CN=tsa.example");
    authority.write("sha512.txt", NOTE);
    authority.run("openssl ts -query -data sha512.txt -sha512 -cert -out sha512.tsq");
    authority.run("openssl ts -query -data sha512.txt -tspolicy 1.9.9 -out policy.tsq");
    refused(BundleError.STAMP_FORM, authority.reply(authority.read("sha512.tsq")));
    refused(BundleError.STAMP_FORM, authority.reply(authority.read("policy.tsq")));
  }

  @Test
  void aReplyThatIsCutOrHasMoreBehindItIsRefused() {
    for (int length = 0; length < reply.length; length += 7) {
      refused(BundleError.STAMP_FORM, Arrays.copyOf(reply, length));
    }
    refused(BundleError.STAMP_FORM, Arrays.copyOf(reply, reply.length - 1));
    refused(BundleError.STAMP_FORM, Arrays.copyOf(reply, reply.length + 1));
    refused(BundleError.STAMP_FORM, new byte[TimeStamp.BYTES_MAX + 1]);
    refused(BundleError.STAMP_FORM, REQUEST.toBytes());
    authority.write("whole.tsr", reply);
    authority.run("openssl ts -reply -in whole.tsr -token_out -out token.tst");
    refused(BundleError.STAMP_FORM, authority.read("token.tst"));
  }

  @Test
  void what_is_wrong_is_said_in_words() {
    assertThatThrownBy(() -> verified(new byte[0])).hasMessageContaining("it is empty");
    assertThatThrownBy(() -> StampRequest.parse(new byte[0])).hasMessageContaining("is empty");
    List<byte[]> wrong = new ArrayList<>(List.of(new byte[1], NOTE, REQUEST.toBytes()));
    for (int length = 0; length < reply.length; length += 7) {
      wrong.add(Arrays.copyOf(reply, length));
    }
    for (byte[] given : wrong) {
      assertThatThrownBy(() -> verified(given))
          .hasMessageContaining("RPL-087")
          .message()
          .doesNotContain("java.", "Exception", "bouncycastle");
    }
    assertThatThrownBy(() -> StampRequest.parse(NOTE))
        .message()
        .contains("RPL-087")
        .doesNotContain("Exception");
  }

  /** Whatever byte is another one, it is not the same statement by the same signer any more. */
  @Test
  void noByteOfItCanBeChanged() {
    TimeStamp stamp = verified(reply);
    for (int at = 0; at < reply.length; at++) {
      byte[] changed = reply.clone();
      changed[at] ^= 0x01;
      try {
        assertThat(verified(changed)).as("byte " + at).isEqualTo(stamp);
      } catch (WritException e) {
        assertThat(e.code().code()).startsWith("RPL-08");
      }
    }
  }

  @Test
  void aCertificateThatIsNotForThisDoesNotStamp() {
    assertThat(verified(authority.signedAgain(reply, "tsa")))
        .as("the way by which the others are made")
        .isEqualTo(verified(reply));
    authority.certify("web", "web.example", "extendedKeyUsage=critical,serverAuth\n", 30);
    refused(BundleError.STAMP_SIGNER, authority.signedAgain(reply, "web"));
    authority.certify("any", "any.example", "basicConstraints=CA:FALSE\n", 30);
    refused(BundleError.STAMP_SIGNER, authority.signedAgain(reply, "any"));
    authority.certify("both", "both.example", "extendedKeyUsage=timeStamping\n", 30);
    refused(BundleError.STAMP_SIGNER, authority.signedAgain(reply, "both"));
    authority.certify("expired", "old.example", "extendedKeyUsage=critical,timeStamping\n", -1);
    refused(BundleError.STAMP_SIGNER, authority.signedAgain(reply, "expired"));
  }

  @Test
  void whoIsNotBelievedDoesNotStamp() {
    OpensslAuthority stranger = new OpensslAuthority(dir.resolve("two"), "tsa.example");
    refused(BundleError.STAMP_SIGNER, stranger.reply(REQUEST.toBytes()));
    refused(BundleError.STAMP_SIGNER, stranger.signedAgain(reply, "tsa"));
    assertThatThrownBy(
            () -> TimeStamp.verify(reply, STAMPED, Optional.empty(), StampAuthorities.NONE))
        .hasMessageContaining("RPL-089");
    assertThatThrownBy(() -> StampAuthorities.parse(NOTE)).hasMessageContaining("RPL-089");
    authority.run("openssl ts -query -data tsa.pem -no_nonce -out without.tsq");
    refused(BundleError.STAMP_OTHER, authority.reply(authority.read("without.tsq")));
  }

  /** A reply without the certificate of its signer: nobody could say later whose it was. */
  @Test
  void aReplyWithoutItsCertificateIsRefused() {
    authority.write("note", NOTE);
    authority.run("openssl ts -query -data note -sha256 -no_nonce -out bare.tsq");
    byte[] bare = authority.reply(authority.read("bare.tsq"));
    assertThatThrownBy(() -> TimeStamp.verify(bare, STAMPED, Optional.empty(), believed))
        .hasMessageContaining("RPL-089");
  }
}
