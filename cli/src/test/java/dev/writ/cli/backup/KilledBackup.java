package dev.writ.cli.backup;

import dev.writ.canonicalize.disk.DurableFiles;
import dev.writ.cli.term.Progress;
import dev.writ.cli.term.Terminal;
import dev.writ.embed.home.Home;
import java.io.ByteArrayInputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * A process that makes a backup or puts one back, and ends without a word at the operation of a
 * number: {@code backup|restore PART AT HOME FOLDER RECIPIENT|IDENTITY}.
 */
final class KilledBackup {
  static final int KILLED = 137;

  private KilledBackup() {}

  static Progress progress() {
    return new Progress(
        new Terminal(
            new ByteArrayInputStream(new byte[0]),
            OutputStream.nullOutputStream(),
            OutputStream.nullOutputStream(),
            "",
            Map.of()));
  }

  static void backup(Path home, Path folder, String recipient, DurableFiles disk) {
    BackupMaker.make(
        new Home(home, () -> null),
        new BackupMaker.Order(
            folder, new AgeRecipients(List.of(recipient)), false, InstantSource.system().instant()),
        disk,
        progress());
  }

  static void restore(Path home, Path folder, Path identity, DurableFiles disk) throws Exception {
    BackupRestore.restore(
        BackupContents.of(
            BackupFolder.existing(folder),
            Optional.empty(),
            Optional.empty(),
            AgeIdentities.parse(Files.readAllBytes(identity)),
            progress()),
        new Home(home, () -> null),
        new BackupRestore.Order(Optional.empty(), false, InstantSource.system(), disk));
  }

  public static void main(String[] args) throws Exception {
    DurableFiles disk =
        new InterruptedDisk(
                args[1], Integer.parseInt(args[2]), () -> Runtime.getRuntime().halt(KILLED))
            .files();
    if (args[0].equals("backup")) {
      backup(Path.of(args[3]), Path.of(args[4]), args[5], disk);
    } else {
      restore(Path.of(args[3]), Path.of(args[4]), Path.of(args[5]), disk);
    }
  }
}
