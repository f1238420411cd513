package dev.writ.embed.signer;

import java.util.Map;
import java.util.Set;

/** Return values of PKCS#11 calls: those that are acted on, and names for people. */
final class CryptokiCodes {
  static final long OK = 0;
  static final long PIN_INCORRECT = 0xA0;
  static final long PIN_LOCKED = 0xA4;
  static final long ALREADY_LOGGED_IN = 0x100;
  static final long ALREADY_INITIALIZED = 0x191;

  private static final Map<Long, String> NAMES =
      Map.ofEntries(
          Map.entry(0x02L, "CKR_HOST_MEMORY"),
          Map.entry(0x05L, "CKR_GENERAL_ERROR"),
          Map.entry(0x06L, "CKR_FUNCTION_FAILED"),
          Map.entry(0x21L, "CKR_DATA_LEN_RANGE"),
          Map.entry(0x30L, "CKR_DEVICE_ERROR"),
          Map.entry(0x32L, "CKR_DEVICE_REMOVED"),
          Map.entry(0x54L, "CKR_FUNCTION_NOT_SUPPORTED"),
          Map.entry(0x60L, "CKR_KEY_HANDLE_INVALID"),
          Map.entry(0x63L, "CKR_KEY_TYPE_INCONSISTENT"),
          Map.entry(0x68L, "CKR_KEY_FUNCTION_NOT_PERMITTED"),
          Map.entry(0x70L, "CKR_MECHANISM_INVALID"),
          Map.entry(PIN_INCORRECT, "CKR_PIN_INCORRECT"),
          Map.entry(PIN_LOCKED, "CKR_PIN_LOCKED"),
          Map.entry(0xB0L, "CKR_SESSION_CLOSED"),
          Map.entry(0xB3L, "CKR_SESSION_HANDLE_INVALID"),
          Map.entry(0xE0L, "CKR_TOKEN_NOT_PRESENT"),
          Map.entry(0x101L, "CKR_USER_NOT_LOGGED_IN"),
          Map.entry(0x102L, "CKR_USER_PIN_NOT_INITIALIZED"));

  /** The session, or what it knew, is gone: a new one may do. */
  private static final Set<Long> LOST = Set.of(0x32L, 0x60L, 0x82L, 0xB0L, 0xB3L, 0xE0L, 0x101L);

  private CryptokiCodes() {}

  static boolean isLost(long code) {
    return LOST.contains(code);
  }

  static String name(long code) {
    return NAMES.getOrDefault(code, "0x" + Long.toHexString(code));
  }
}
