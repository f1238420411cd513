package dev.writ.embed.signer;

import java.lang.foreign.AddressLayout;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/**
 * The calls of a PKCS#11 module that signing takes (OASIS PKCS#11 2.40, on hosts whose {@code long}
 * has 64 bits). The JDK's own provider reaches no Ed25519 key. Not for several threads at once.
 */
final class Cryptoki {
  private static final AddressLayout POINTER = ValueLayout.ADDRESS;
  private static final ValueLayout.OfLong ULONG = ValueLayout.JAVA_LONG;
  private static final long ULONG_BYTES = 8;
  private static final long ATTRIBUTE_BYTES = 3 * ULONG_BYTES;

  // Places in CK_FUNCTION_LIST.
  private static final int INITIALIZE = 0;
  private static final int FINALIZE = 1;
  private static final int GET_SLOT_LIST = 4;
  private static final int GET_TOKEN_INFO = 6;
  private static final int OPEN_SESSION = 12;
  private static final int CLOSE_SESSION = 13;
  private static final int LOGIN = 18;
  private static final int GET_ATTRIBUTE_VALUE = 24;
  private static final int FIND_OBJECTS_INIT = 26;
  private static final int FIND_OBJECTS = 27;
  private static final int FIND_OBJECTS_FINAL = 28;
  private static final int SIGN_INIT = 42;
  private static final int SIGN = 43;
  private static final int FUNCTIONS = 68;

  private static final long OS_LOCKING_OK = 2;
  private static final long SERIAL_SESSION = 4;
  private static final long USER = 1;

  /** CKM_EDDSA, which for an Ed25519 key is that of RFC 8032 without a context. */
  static final long EDDSA = 0x1057;

  /** CKM_ECDSA, of a digest; the signature is r and s. */
  static final long ECDSA = 0x1041;

  private static final int TOKEN_INFO_BYTES = 208;

  /** More slots, objects or bytes of a value than this no module has for us. */
  private static final int MANY = 4096;

  private final MemorySegment functions;

  /** Whether nobody else in this process had started the module: then it is ours to start anew. */
  private boolean isOurs;

  private int starts;

  private Cryptoki(MemorySegment functions) {
    this.functions = functions;
  }

  /** A call that failed, with the module's code. */
  static final class Failure extends RuntimeException {
    private static final long serialVersionUID = 1;

    final long code;

    Failure(String function, long code) {
      super(function + " says " + CryptokiCodes.name(code));
      this.code = code;
    }
  }

  /** What a token says of itself. */
  record Token(
      long slot,
      String label,
      String manufacturer,
      String model,
      String serial,
      boolean loginRequired,
      boolean ownPinPad) {}

  /**
   * Loads and initializes a module, for as long as the process lives.
   *
   * @throws IllegalArgumentException where the file is no library
   * @throws java.util.NoSuchElementException where the library is no PKCS#11 module
   * @throws Failure where it does not start
   */
  @SuppressWarnings("restricted")
  static Cryptoki load(Path module) {
    SymbolLookup symbols = SymbolLookup.libraryLookup(module, Arena.global());
    MethodHandle list =
        Linker.nativeLinker()
            .downcallHandle(
                symbols.findOrThrow("C_GetFunctionList"), FunctionDescriptor.of(ULONG, POINTER));
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment at = arena.allocate(POINTER);
      expect("C_GetFunctionList", call(list, at));
      // CK_VERSION has two bytes, and the pointers behind it are aligned.
      MemorySegment functions =
          at.get(POINTER, 0).reinterpret(ULONG_BYTES + FUNCTIONS * POINTER.byteSize());
      Cryptoki loaded = new Cryptoki(functions);
      loaded.isOurs = loaded.initialize();
      return loaded;
    }
  }

  /** Whether it was not started before. */
  private boolean initialize() {
    try (Arena arena = Arena.ofConfined()) {
      // CK_C_INITIALIZE_ARGS: four functions, flags, reserved.
      MemorySegment arguments = arena.allocate(6 * ULONG_BYTES, ULONG_BYTES);
      arguments.set(ULONG, 4 * ULONG_BYTES, OS_LOCKING_OK);
      long said = call(function(INITIALIZE, POINTER), arguments);
      if (said == CryptokiCodes.ALREADY_INITIALIZED) {
        return false;
      }
      expect("C_Initialize", said);
      return true;
    }
  }

  /**
   * Ends the module and starts it anew, unless somebody else in this process had started it. All of
   * its sessions are gone then, and their numbers may be given again.
   *
   * @throws Failure where it does not start
   */
  void restart() {
    if (isOurs) {
      starts++;
      call(function(FINALIZE, POINTER), MemorySegment.NULL); // if it had ended, that is as well
      initialize();
    }
  }

  /** How often it was started anew. */
  int starts() {
    return starts;
  }

  /** The tokens that are there now. */
  List<Token> tokens() {
    try (Arena arena = Arena.ofConfined()) {
      MethodHandle slots = function(GET_SLOT_LIST, ValueLayout.JAVA_BYTE, POINTER, POINTER);
      MemorySegment found = arena.allocate(MANY * ULONG_BYTES, ULONG_BYTES);
      MemorySegment count = arena.allocate(ULONG);
      count.set(ULONG, 0, MANY);
      expect("C_GetSlotList", call(slots, (byte) 1, found, count));
      List<Token> tokens = new ArrayList<>();
      for (long i = 0; i < Math.min(MANY, count.get(ULONG, 0)); i++) {
        token(arena, found.getAtIndex(ULONG, i)).ifPresent(tokens::add);
      }
      return tokens;
    }
  }

  /** Empty where it went away meanwhile. */
  private Optional<Token> token(Arena arena, long slot) {
    MemorySegment info = arena.allocate(TOKEN_INFO_BYTES, ULONG_BYTES);
    long said = call(function(GET_TOKEN_INFO, ULONG, POINTER), slot, info);
    if (said != CryptokiCodes.OK) {
      return Optional.empty();
    }
    long flags = info.get(ULONG, 96);
    return Optional.of(
        new Token(
            slot,
            padded(info, 0, 32),
            padded(info, 32, 32),
            padded(info, 64, 16),
            padded(info, 80, 16),
            (flags & 0x4) != 0,
            (flags & 0x100) != 0));
  }

  private static String padded(MemorySegment info, long at, int bytes) {
    byte[] text = info.asSlice(at, bytes).toArray(ValueLayout.JAVA_BYTE);
    return new String(text, StandardCharsets.UTF_8).stripTrailing();
  }

  /** Opens a session that only reads. */
  long open(long slot) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment session = arena.allocate(ULONG);
      MethodHandle open = function(OPEN_SESSION, ULONG, ULONG, POINTER, POINTER, POINTER);
      MemorySegment none = MemorySegment.NULL;
      expect("C_OpenSession", call(open, slot, SERIAL_SESSION, none, none, session));
      return session.get(ULONG, 0);
    }
  }

  /** Whatever becomes of it, the session is not used again. */
  void close(long session) {
    call(function(CLOSE_SESSION, ULONG), session);
  }

  /**
   * @param pin null where the token asks for it by itself
   */
  void login(long session, byte[] pin) {
    try (Arena arena = Arena.ofConfined()) {
      MethodHandle login = function(LOGIN, ULONG, ULONG, POINTER, ULONG);
      MemorySegment own = MemorySegment.NULL;
      if (pin != null) {
        own = arena.allocate(Math.max(1, pin.length));
        MemorySegment.copy(pin, 0, own, ValueLayout.JAVA_BYTE, 0, pin.length);
      }
      long said = call(login, session, USER, own, pin == null ? 0L : (long) pin.length);
      if (pin != null) {
        own.fill((byte) 0);
      }
      if (said != CryptokiCodes.ALREADY_LOGGED_IN) {
        expect("C_Login", said);
      }
    }
  }

  /** An attribute and the value that an object is to have, or that it has. */
  record Attribute(long type, byte[] value) {
    static Attribute of(long type, long value) {
      byte[] bytes = new byte[(int) ULONG_BYTES];
      MemorySegment.ofArray(bytes).set(ValueLayout.JAVA_LONG_UNALIGNED, 0, value);
      return new Attribute(type, bytes);
    }
  }

  /** The objects that have all of these attributes. */
  List<Long> find(long session, List<Attribute> wanted) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment template = arena.allocate(wanted.size() * ATTRIBUTE_BYTES, ULONG_BYTES);
      for (int i = 0; i < wanted.size(); i++) {
        byte[] value = wanted.get(i).value();
        MemorySegment copy = arena.allocate(Math.max(1, value.length));
        MemorySegment.copy(value, 0, copy, ValueLayout.JAVA_BYTE, 0, value.length);
        attribute(template, i, wanted.get(i).type(), copy, value.length);
      }
      MethodHandle begin = function(FIND_OBJECTS_INIT, ULONG, POINTER, ULONG);
      expect("C_FindObjectsInit", call(begin, session, template, (long) wanted.size()));
      try {
        MemorySegment found = arena.allocate(MANY * ULONG_BYTES, ULONG_BYTES);
        MemorySegment count = arena.allocate(ULONG);
        MethodHandle find = function(FIND_OBJECTS, ULONG, POINTER, ULONG, POINTER);
        expect("C_FindObjects", call(find, session, found, (long) MANY, count));
        List<Long> objects = new ArrayList<>();
        for (long i = 0; i < Math.min(MANY, count.get(ULONG, 0)); i++) {
          objects.add(found.getAtIndex(ULONG, i));
        }
        return objects;
      } finally {
        call(function(FIND_OBJECTS_FINAL, ULONG), session);
      }
    }
  }

  /** An object's attribute; empty where it has none, or does not give it out. */
  Optional<byte[]> attribute(long session, long object, long type) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment value = arena.allocate(MANY);
      MemorySegment template = arena.allocate(ATTRIBUTE_BYTES, ULONG_BYTES);
      attribute(template, 0, type, value, MANY);
      MethodHandle get = function(GET_ATTRIBUTE_VALUE, ULONG, ULONG, POINTER, ULONG);
      if (call(get, session, object, template, 1L) != CryptokiCodes.OK) {
        return Optional.empty();
      }
      long length = template.get(ULONG, 2 * ULONG_BYTES);
      if (length < 0 || length > MANY) {
        return Optional.empty();
      }
      return Optional.of(value.asSlice(0, length).toArray(ValueLayout.JAVA_BYTE));
    }
  }

  private static void attribute(
      MemorySegment template, int index, long type, MemorySegment value, long length) {
    long at = index * ATTRIBUTE_BYTES;
    template.set(ULONG, at, type);
    template.set(POINTER, at + ULONG_BYTES, value);
    template.set(ULONG, at + 2 * ULONG_BYTES, length);
  }

  /** Signs by a mechanism that has no parameters. */
  byte[] sign(long session, long key, long mechanismType, byte[] message) {
    try (Arena arena = Arena.ofConfined()) {
      // CK_MECHANISM: which, a pointer to parameters, and their length.
      MemorySegment mechanism = arena.allocate(3 * ULONG_BYTES, ULONG_BYTES);
      mechanism.set(ULONG, 0, mechanismType);
      MethodHandle begin = function(SIGN_INIT, ULONG, POINTER, ULONG);
      expect("C_SignInit", call(begin, session, mechanism, key));
      MemorySegment data = arena.allocate(Math.max(1, message.length));
      MemorySegment.copy(message, 0, data, ValueLayout.JAVA_BYTE, 0, message.length);
      MemorySegment signature = arena.allocate(MANY);
      MemorySegment length = arena.allocate(ULONG);
      length.set(ULONG, 0, MANY);
      MethodHandle sign = function(SIGN, ULONG, POINTER, ULONG, POINTER, POINTER);
      expect("C_Sign", call(sign, session, data, (long) message.length, signature, length));
      byte[] all = signature.toArray(ValueLayout.JAVA_BYTE);
      return Arrays.copyOf(all, Math.clamp(length.get(ULONG, 0), 0, MANY));
    }
  }

  @SuppressWarnings("restricted")
  private MethodHandle function(int place, MemoryLayout... arguments) {
    return Linker.nativeLinker()
        .downcallHandle(
            functions.get(POINTER, ULONG_BYTES + place * POINTER.byteSize()),
            FunctionDescriptor.of(ULONG, arguments));
  }

  private static long call(MethodHandle function, Object... arguments) {
    try {
      return (long) function.invokeWithArguments(arguments);
    } catch (Throwable e) {
      throw new IllegalStateException("a PKCS#11 module cannot be called", e);
    }
  }

  private static void expect(String function, long said) {
    if (said != CryptokiCodes.OK) {
      throw new Failure(function, said);
    }
  }
}
