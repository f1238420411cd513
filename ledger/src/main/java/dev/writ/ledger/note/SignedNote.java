package dev.writ.ledger.note;

import dev.writ.canonicalize.ErrorCode;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.crypto.SigningKey;
import dev.writ.ledger.error.LedgerError;
import dev.writ.ledger.event.Names;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;

/**
 * A C2SP signed note: a text and signature lines. An instance says nothing about its signatures
 * until {@link #verify} has checked them.
 *
 * @param text what is signed, with its final newline
 * @param signatures in the order of the note; of unknown keys too
 */
public record SignedNote(String text, List<Signature> signatures) {
  /** Largest note that is read, in bytes: 16 post-quantum signatures and more. */
  public static final int BYTES_MAX = 256 * 1024;

  /** Most signature lines that are read; C2SP demands at least 16. */
  public static final int SIGNATURES_MAX = 64;

  private static final String DASH = "\u2014 ";

  /**
   * One signature line.
   *
   * @param name of the key
   * @param idAndBytes four bytes of key id, then the signature
   */
  public record Signature(String name, byte[] idAndBytes) {
    public Signature {
      idAndBytes = idAndBytes.clone();
    }

    @Override
    public byte[] idAndBytes() {
      return idAndBytes.clone();
    }

    boolean isBy(String signer, byte[] id) {
      return name.equals(signer) && Arrays.equals(idAndBytes, 0, 4, id, 0, 4);
    }
  }

  public SignedNote {
    requireText(text);
    signatures = List.copyOf(signatures);
  }

  /** Signs a text; the key signs under {@code name}. */
  public static SignedNote sign(String text, String name, SigningKey key) {
    requireText(text);
    NoteKey noteKey = new NoteKey(name, key.verifyingKey());
    byte[] signature = key.sign(text.getBytes(StandardCharsets.UTF_8));
    byte[] idAndBytes = Arrays.copyOf(noteKey.id(), 4 + signature.length);
    System.arraycopy(signature, 0, idAndBytes, 4, signature.length);
    return new SignedNote(text, List.of(new Signature(name, idAndBytes)));
  }

  /**
   * Reads a note; signatures are not verified.
   *
   * @throws WritException {@code LED-050} for any other form than C2SP's
   */
  public static SignedNote parse(byte[] bytes) {
    if (bytes.length > BYTES_MAX) {
      throw malformed(bytes.length + " bytes, at most " + BYTES_MAX);
    }
    String note = decode(bytes);
    // The last empty line separates, since the text may have empty lines of its own.
    int separator = note.lastIndexOf("\n\n");
    if (separator < 0) {
      throw malformed("there is no empty line before the signatures");
    }
    String text = note.substring(0, separator + 1);
    String lines = note.substring(separator + 2);
    if (!lines.endsWith("\n")) {
      throw malformed("the last line does not end");
    }
    List<Signature> signatures = new ArrayList<>();
    for (String line : lines.substring(0, lines.length() - 1).split("\n", -1)) {
      if (signatures.size() == SIGNATURES_MAX) {
        throw malformed("more than " + SIGNATURES_MAX + " signatures");
      }
      signatures.add(signature(line));
    }
    return new SignedNote(text, signatures);
  }

  private static Signature signature(String line) {
    int space = line.indexOf(' ', DASH.length());
    if (!line.startsWith(DASH) || space < 0) {
      throw malformed("a signature line is not: dash, name, base64");
    }
    String name = line.substring(DASH.length(), space);
    try {
      VerifierKeyText.requireName(name);
    } catch (WritException e) {
      throw new WritException(LedgerError.NOTE_MALFORMED, e.found(), e);
    }
    byte[] bytes = base64(line.substring(space + 1), LedgerError.NOTE_MALFORMED, "a signature");
    if (bytes.length < 5) {
      throw malformed("a signature has " + bytes.length + " bytes");
    }
    return new Signature(name, bytes);
  }

  /**
   * Verifies that this key signed the text. Signatures of other keys are ignored, as C2SP says,
   * even if they share its name or its id.
   *
   * @throws WritException {@code LED-053} where it did not sign, {@code LED-052} where a signature
   *     under its name and id does not verify, even beside one that does
   */
  public void verify(NoteKey key) {
    byte[] message = text.getBytes(StandardCharsets.UTF_8);
    List<byte[]> ours = signaturesBy(key.name(), key.id());
    for (byte[] signature : ours) {
      try {
        key.key().verify(message, signature);
      } catch (WritException e) {
        throw new WritException(LedgerError.NOTE_SIGNATURE, "key " + key, e);
      }
    }
    if (ours.isEmpty()) {
      throw new WritException(LedgerError.NOTE_UNSIGNED, "key " + key);
    }
  }

  /** What stands behind the id in the lines of this name and id. */
  List<byte[]> signaturesBy(String name, byte[] id) {
    return signatures.stream()
        .filter(signature -> signature.isBy(name, id))
        .map(s -> Arrays.copyOfRange(s.idAndBytes, 4, s.idAndBytes.length))
        .toList();
  }

  /** The lines of a witness's name and id; nothing is verified. */
  public List<Signature> signaturesOf(WitnessKey key) {
    return signatures.stream().filter(line -> line.isBy(key.name(), key.id())).toList();
  }

  /** The lines of signatures alone, as {@link #toBytes} has them. */
  public static String lines(List<Signature> signatures) {
    StringBuilder lines = new StringBuilder();
    for (Signature signature : signatures) {
      lines
          .append(DASH)
          .append(signature.name())
          .append(' ')
          .append(Base64.getEncoder().encodeToString(signature.idAndBytes()))
          .append('\n');
    }
    return lines.toString();
  }

  /** The note's bytes. */
  public byte[] toBytes() {
    return (text + "\n" + lines(signatures)).getBytes(StandardCharsets.UTF_8);
  }

  private static void requireText(String text) {
    if (!text.endsWith("\n")) {
      throw malformed("the text does not end in a newline");
    }
    if (text.chars().anyMatch(c -> c < 0x20 && c != '\n')) {
      throw malformed("the text holds a control character");
    }
    Names.utf8("note text", text);
  }

  private static String decode(byte[] bytes) {
    try {
      String note = StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
      if (note.chars().anyMatch(c -> c < 0x20 && c != '\n')) {
        throw malformed("it holds a control character");
      }
      return note;
    } catch (CharacterCodingException e) {
      throw new WritException(LedgerError.NOTE_MALFORMED, "it is not UTF-8", e);
    }
  }

  /** Padded standard base64 in its one spelling (RFC 4648, 4). */
  static byte[] base64(String text, ErrorCode code, String what) {
    try {
      byte[] bytes = Base64.getDecoder().decode(text);
      if (Base64.getEncoder().encodeToString(bytes).equals(text)) {
        return bytes;
      }
    } catch (IllegalArgumentException e) {
      // refused below, with the other wrong forms
    }
    throw new WritException(code, what + " is not padded standard base64");
  }

  private static WritException malformed(String found) {
    return new WritException(LedgerError.NOTE_MALFORMED, found);
  }
}
