package dev.writ.embed.signer;

import dev.writ.canonicalize.CanonicalizeError;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.crypto.KeyFiles;
import dev.writ.embed.error.SignerError;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Optional;
import java.util.function.Function;

/**
 * Where a token's PIN comes from: a file, the environment, or a person, in this order.
 *
 * @param file the owner's alone; its first line is the PIN
 * @param environment what WRIT_PKCS11_PIN says
 * @param asked by the token's label; null where nobody can be asked
 */
record TokenPin(Optional<Path> file, Optional<String> environment, Function<String, char[]> asked) {
  /**
   * @return the caller's to overwrite
   * @throws WritException {@code SGN-013} where there is none, or an empty one, or the file is not
   *     there, {@code CAN-07x} where it is not its owner's alone
   */
  byte[] of(String token) {
    byte[] pin = found(token);
    if (pin.length == 0) { // a file that is being written, say: the token would count it as wrong
      throw new WritException(SignerError.TOKEN_PIN, "the one for " + token + " is empty");
    }
    return pin;
  }

  private byte[] found(String token) {
    if (file.isPresent()) {
      return firstLine(content(token, file.get()));
    }
    char[] told = environment.map(String::toCharArray).orElseGet(() -> asked.apply(token));
    if (told == null) {
      throw new WritException(SignerError.TOKEN_PIN, "there is none for " + token);
    }
    ByteBuffer utf8 = StandardCharsets.UTF_8.encode(CharBuffer.wrap(told));
    byte[] pin = Arrays.copyOfRange(utf8.array(), 0, utf8.limit());
    Arrays.fill(utf8.array(), (byte) 0);
    return pin;
  }

  private static byte[] content(String token, Path file) {
    try {
      return KeyFiles.secret(file);
    } catch (WritException e) {
      if (e.code() == CanonicalizeError.KEY_FILE_MISSING) { // it is no key that could be made
        throw new WritException(
            SignerError.TOKEN_PIN,
            "the file of the one for " + token + " is not there: " + file,
            e);
      }
      throw e;
    }
  }

  private static byte[] firstLine(byte[] content) {
    int end = 0;
    while (end < content.length && content[end] != '\n' && content[end] != '\r') {
      end++;
    }
    byte[] line = Arrays.copyOf(content, end);
    Arrays.fill(content, (byte) 0);
    return line;
  }
}
