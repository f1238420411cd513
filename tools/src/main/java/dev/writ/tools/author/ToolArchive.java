package dev.writ.tools.author;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.crypto.SigningKey;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.trust.PayloadTypes;
import dev.writ.canonicalize.trust.Trust;
import dev.writ.canonicalize.trust.TrustedKey;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.tools.error.ToolsError;
import dev.writ.tools.registry.PackageDirectory;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Instant;
import java.time.LocalDateTime;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.zip.CRC32;
import java.util.zip.ZipEntry;
import java.util.zip.ZipInputStream;
import java.util.zip.ZipOutputStream;

/**
 * A tool in one file: a ZIP archive of its files and, once it is signed, the envelope over its
 * manifest (spec/tool-package.md). Equal packages have equal bytes: an archive in any other form
 * than this class writes is refused, so that no two readers can see different content in it.
 *
 * @param signature over the canonical manifest; absent until it is signed
 */
public record ToolArchive(ToolProject project, Optional<Envelope> signature) {
  /** The payload type of the envelope. */
  public static final String TYPE = PayloadTypes.of("tool-package");

  /** The name of the envelope in the archive; no file of a package can have it. */
  static final String SIGNATURE = ".signature.json";

  private static final int FILES_MAX = 1_001;
  private static final long BYTES_MAX = 65L << 20;

  /** The date of all entries: the first that the format can express. */
  private static final LocalDateTime NO_TIME = LocalDateTime.of(1980, 1, 1, 0, 0);

  /** An unsigned package. */
  public static ToolArchive of(ToolProject project) {
    return new ToolArchive(project, Optional.empty());
  }

  public byte[] toBytes() {
    TreeMap<String, byte[]> entries = new TreeMap<>(project.files());
    signature.ifPresent(envelope -> entries.put(SIGNATURE, envelope.toBytes()));
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (ZipOutputStream zip = new ZipOutputStream(bytes)) {
      for (var entry : entries.entrySet()) {
        CRC32 crc = new CRC32();
        crc.update(entry.getValue());
        ZipEntry header = new ZipEntry(entry.getKey());
        header.setMethod(ZipEntry.STORED);
        header.setSize(entry.getValue().length);
        header.setCrc(crc.getValue());
        header.setTimeLocal(NO_TIME);
        zip.putNextEntry(header);
        zip.write(entry.getValue());
        zip.closeEntry();
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return bytes.toByteArray();
  }

  /**
   * Reads an archive; its signature is not verified yet.
   *
   * @throws WritException {@code TOL-023}, {@code TOL-026}, {@code TOL-206}, {@code TOL-201},
   *     {@code TOL-202}, or what an envelope is refused with
   */
  public static ToolArchive read(byte[] bytes) {
    SortedMap<String, byte[]> entries = entries(bytes);
    if (entries.isEmpty()) {
      throw new WritException(ToolsError.ARCHIVE_FORM, "it does not begin as a ZIP file does");
    }
    Optional<Envelope> signature =
        Optional.ofNullable(entries.remove(SIGNATURE)).map(Envelope::parse);
    ToolArchive archive = new ToolArchive(ToolProject.of(entries), signature);
    if (!Arrays.equals(archive.toBytes(), bytes)) {
      throw new WritException(
          ToolsError.ARCHIVE_FORM, "its " + bytes.length + " bytes are not those it would be");
    }
    return archive;
  }

  private static SortedMap<String, byte[]> entries(byte[] bytes) {
    if (bytes.length > BYTES_MAX) {
      throw new WritException(
          ToolsError.PACKAGE_TOO_LARGE, bytes.length + " bytes, at most " + BYTES_MAX);
    }
    TreeMap<String, byte[]> entries = new TreeMap<>();
    try (ZipInputStream zip = new ZipInputStream(new ByteArrayInputStream(bytes))) {
      for (ZipEntry entry = zip.getNextEntry(); entry != null; entry = zip.getNextEntry()) {
        if (!entry.getName().equals(SIGNATURE)) {
          PackageDirectory.requirePath(entry.getName());
        }
        if (entry.getMethod() != ZipEntry.STORED || entries.size() == FILES_MAX) {
          throw new WritException(
              ToolsError.ARCHIVE_FORM, "a compressed entry, or more than " + FILES_MAX);
        }
        // entries are stored uncompressed, so they cannot be larger than the archive
        if (entries.put(entry.getName(), zip.readAllBytes()) != null) {
          throw new WritException(ToolsError.ARCHIVE_FORM, entry.getName() + " stands there twice");
        }
      }
    } catch (IOException | IllegalArgumentException e) {
      throw new WritException(ToolsError.ARCHIVE_FORM, e.getClass().getSimpleName(), e);
    }
    return entries;
  }

  /** This package with a publisher's signature, which replaces an earlier one. */
  public ToolArchive signed(SigningKey publisher) {
    Envelope envelope = Envelope.sign(TYPE, project.manifest().toJson(), publisher);
    return new ToolArchive(project, Optional.of(envelope));
  }

  /**
   * Verifies that an enrolled publisher signed exactly this package.
   *
   * @return the publisher
   * @throws WritException {@code TOL-207} without a signature, {@code TOL-208} over another
   *     manifest, {@code CAN-05x}, {@code CAN-06x} of a signature that does not count
   */
  public List<TrustedKey> verify(Trust trust, Instant at) {
    Envelope envelope =
        signature.orElseThrow(() ->
            new WritException(
                ToolsError.PACKAGE_UNSIGNED,
                project.source().tool() + " " + project.source().version()));
    List<TrustedKey> publishers = trust.verify(envelope, TYPE, at);
    ToolManifest made = project.manifest();
    if (!Arrays.equals(envelope.payload(), Jcs.write(made.toJson()))) {
      throw new WritException(
          ToolsError.PACKAGE_DIFFERS,
          "signed is " + envelope.id() + ", the files make " + made.packageDigest());
    }
    return publishers;
  }
}
