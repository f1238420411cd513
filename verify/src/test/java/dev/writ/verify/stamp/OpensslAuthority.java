package dev.writ.verify.stamp;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** A time stamp authority, and the authority that certified it, made of OpenSSL's commands. */
public final class OpensslAuthority {
  private static final String PURPOSE = "extendedKeyUsage=critical,timeStamping\n";

  private final Path dir;

  /**
   * @param dir where its files are; made
   * @param name of the one that stamps
   */
  public OpensslAuthority(Path dir, String name) {
    this.dir = dir;
    write("serial", "01\n");
    write(
        "tsa.conf",
        """
        [tsa]
        default_tsa = one
        [one]
        serial = %1$s/serial
        signer_cert = %1$s/tsa.pem
        signer_key = %1$s/tsa.key
        certs = %1$s/ca.pem
        signer_digest = sha256
        default_policy = 1.2.3.4.1
        digests = sha256
        ess_cert_id_alg = sha256
        """
            .formatted(dir));
    run(
        "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 30 -subj"
            + " /CN=authority -keyout ca.key -out ca.pem");
    certify("tsa", name, PURPOSE, 30);
  }

  /** Has a key certified. */
  void certify(String file, String name, String extensions, int days) {
    write(file + ".ext", extensions);
    run(
        "openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN="
            + name
            + " -keyout "
            + file
            + ".key -out "
            + file
            + ".csr");
    run(
        "openssl x509 -req -CA ca.pem -CAkey ca.key -CAcreateserial -days "
            + days
            + " -extfile "
            + file
            + ".ext -in "
            + file
            + ".csr -out "
            + file
            + ".pem");
  }

  /** The certificate that leads to it, in PEM. */
  public Path certificate() {
    return dir.resolve("ca.pem");
  }

  /** Answers a request. */
  public synchronized byte[] reply(byte[] request) {
    write("request.tsq", request);
    run("openssl ts -reply -config tsa.conf -queryfile request.tsq -out reply.tsr");
    return read("reply.tsr");
  }

  /**
   * The same statement as in a reply, but signed by a key of ours, as a CMS of RFC 5035.
   *
   * @param file of a key that was certified
   */
  byte[] signedAgain(byte[] reply, String file) {
    write("good.tsr", reply);
    run("openssl ts -reply -in good.tsr -token_out -out good.tst");
    run("openssl cms -verify -noverify -inform DER -in good.tst -out info.der");
    run(
        "openssl cms -sign -binary -nodetach -cades -nosmimecap -md sha256 -econtent_type"
            + " id-smime-ct-TSTInfo -in info.der -signer "
            + file
            + ".pem -inkey "
            + file
            + ".key -certfile ca.pem -outform DER -out again.tst");
    byte[] token = read("again.tst");
    byte[] granted = {0x30, 0x03, 0x02, 0x01, 0x00};
    int length = granted.length + token.length;
    byte[] head = {0x30, (byte) 0x82, (byte) (length >> 8), (byte) length};
    byte[] whole = new byte[head.length + length];
    System.arraycopy(head, 0, whole, 0, head.length);
    System.arraycopy(granted, 0, whole, head.length, granted.length);
    System.arraycopy(token, 0, whole, head.length + granted.length, token.length);
    return whole;
  }

  /** A command in its directory; a status other than 0 is a failure. */
  public String run(String command) {
    try {
      Process process =
          new ProcessBuilder(new ArrayList<>(List.of(command.split(" "))))
              .directory(dir.toFile())
              .redirectErrorStream(true)
              .start();
      String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      if (process.waitFor() != 0) {
        throw new AssertionError(command + "\n" + said);
      }
      return said;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  void write(String file, byte[] content) {
    try {
      Files.createDirectories(dir);
      Files.write(dir.resolve(file), content);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private void write(String file, String content) {
    write(file, content.getBytes(StandardCharsets.UTF_8));
  }

  byte[] read(String file) {
    try {
      return Files.readAllBytes(dir.resolve(file));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
