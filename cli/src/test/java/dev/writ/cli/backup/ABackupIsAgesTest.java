package dev.writ.cli.backup;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.Digest;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.WritableByteChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The program age reads what a backup encrypts, and its keys and files are read here. */
class ABackupIsAgesTest {
  @TempDir Path dir;

  private byte[] age(byte[] input, String... command) throws Exception {
    Path in = Files.write(dir.resolve("in"), input);
    Process process =
        new ProcessBuilder(command)
            .redirectInput(in.toFile())
            .redirectError(dir.resolve("err").toFile())
            .start();
    byte[] out = process.getInputStream().readAllBytes();
    assertThat(process.waitFor()).as(Files.readString(dir.resolve("err"))).isZero();
    return out;
  }

  @Test
  void each_object_and_the_list_of_files() throws Exception {
    BackedUpHome home = new BackedUpHome(dir);
    home.effect(1);
    home.backup();
    BackupFolder folder = BackupFolder.existing(home.folder());
    BackupNote note = folder.note(1, Optional.empty());
    String identity = home.identity.toString();
    byte[] list = age(Files.readAllBytes(folder.files(1)), "age", "-d", "-i", identity);
    String text = new String(list, StandardCharsets.UTF_8);
    assertThat(text).contains("\"path\":\"keys/log.pem\"", "\"path\":\"ledger/FORMAT\"");
    folder
        .objects(note)
        .forEach((name, _) -> {
          try {
            byte[] stored = Files.readAllBytes(folder.object(name));
            assertThat(Digest.sha256(age(stored, "age", "-d", "-i", identity))).isEqualTo(name);
          } catch (Exception e) {
            throw new AssertionError(e);
          }
        });
  }

  @Test
  void keys_of_age_keygen_and_files_of_age() throws Exception {
    byte[] key = age(new byte[0], "age-keygen");
    String text = new String(key, StandardCharsets.UTF_8);
    String recipient = text.substring(text.indexOf("age1"), text.indexOf("\nAGE")).strip();
    byte[] content = "what age encrypts".repeat(10_000).getBytes(StandardCharsets.UTF_8);
    byte[] encrypted = age(content, "age", "-r", recipient);
    try (InputStream in =
        Channels.newInputStream(
            AgeIdentities.parse(key)
                .decrypting(Channels.newChannel(new ByteArrayInputStream(encrypted))))) {
      assertThat(in.readAllBytes()).isEqualTo(content);
    }
    ByteArrayOutputStream ours = new ByteArrayOutputStream();
    try (WritableByteChannel to =
        new AgeRecipients(List.of(recipient)).encrypting(Channels.newChannel(ours))) {
      ByteBuffer bytes = ByteBuffer.wrap(content);
      while (bytes.hasRemaining()) {
        to.write(bytes);
      }
    }
    Path identity = Files.write(dir.resolve("key"), key);
    assertThat(age(ours.toByteArray(), "age", "-d", "-i", identity.toString())).isEqualTo(content);
  }
}
