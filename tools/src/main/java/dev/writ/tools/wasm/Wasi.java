package dev.writ.tools.wasm;

import com.dylibso.chicory.runtime.HostFunction;
import com.dylibso.chicory.runtime.Memory;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * The system that a guest sees: WASI preview 1 without access to the host (spec/tool-wasm.md). One
 * for each invocation; used by its one thread.
 */
public final class Wasi {
  static final int WHENCE_CUR = 1;

  private static final int IOVECS_MAX = 1024;
  private static final int PATH_BYTES_MAX = 4096;
  private static final int OPEN_FILES_MAX = 1024;
  private static final int FIRST_FD = 3;
  private static final long CLOCK_RESOLUTION_NANOS = 1000;
  private static final long RIGHT_FD_WRITE = 1L << 6;
  private static final int FILETYPE_UNKNOWN = 0;
  private static final int FILETYPE_DIRECTORY = 3;
  private static final int FILETYPE_REGULAR = 4;
  private static final int OPEN_CREATE = 1;
  private static final int OPEN_DIRECTORY = 2;
  private static final int OPEN_EXCLUSIVE = 4;
  private static final int OPEN_TRUNCATE = 8;

  /** An open file, directory or stream; {@code path} are the names that lead to a directory. */
  private static final class Descriptor {
    final FileTree.Node node;
    final List<String> path;
    long offset;

    Descriptor(FileTree.Node node, List<String> path) {
      this.node = node;
      this.path = path;
    }
  }

  private final List<byte[]> args;
  private final List<byte[]> environment;
  private final FileTree files;
  private final GuestClock clock;
  private final Drbg random;
  private final Sink stdout;
  private final Sink stderr;
  private final TreeMap<Integer, Descriptor> open = new TreeMap<>();
  private Descriptor stdin;

  /**
   * @param args the program's name and its arguments
   * @param environment variables, passed to the guest in the order of their names
   * @param files the content of the only preopened directory, {@code /}
   */
  public Wasi(
      List<String> args,
      SortedMap<String, String> environment,
      byte[] stdin,
      FileTree files,
      GuestClock clock,
      Drbg random,
      Sink stdout,
      Sink stderr) {
    this.args = args.stream().map(Wasi::terminated).toList();
    this.environment = new ArrayList<>();
    environment.forEach((name, value) -> this.environment.add(terminated(name + "=" + value)));
    this.files = files;
    this.clock = clock;
    this.random = random;
    this.stdout = stdout;
    this.stderr = stderr;
    setStdin(stdin);
    open.put(FIRST_FD, new Descriptor(files.root(), List.of()));
  }

  private static byte[] terminated(String text) {
    return (text + "\0").getBytes(StandardCharsets.UTF_8);
  }

  /** Sets what the guest reads from descriptor 0. */
  public void setStdin(byte[] bytes) {
    stdin = new Descriptor(new FileTree.File(0, bytes), List.of());
  }

  /** The functions to import. */
  public List<HostFunction> functions() {
    return WasiCalls.bind(this);
  }

  List<byte[]> args() {
    return args;
  }

  List<byte[]> environment() {
    return environment;
  }

  GuestClock clock() {
    return clock;
  }

  int strings(Memory memory, List<byte[]> texts, int pointers, int buffer) {
    int at = buffer;
    for (int i = 0; i < texts.size(); i++) {
      memory.writeI32(pointers + 4 * i, at);
      memory.write(at, texts.get(i));
      at += texts.get(i).length;
    }
    return Errno.SUCCESS;
  }

  int sizes(Memory memory, List<byte[]> texts, int countAt, int bytesAt) {
    memory.writeI32(countAt, texts.size());
    memory.writeI32(bytesAt, texts.stream().mapToInt(t -> t.length).sum());
    return Errno.SUCCESS;
  }

  int clockResolution(Memory memory, int id, int resultAt) {
    if (id < 0 || id > 3) {
      return Errno.INVAL;
    }
    memory.writeLong(resultAt, CLOCK_RESOLUTION_NANOS);
    return Errno.SUCCESS;
  }

  int clockTime(Memory memory, int id, int resultAt) {
    if (id < 0 || id > 3) {
      return Errno.INVAL;
    }
    memory.writeLong(resultAt, clock.read());
    return Errno.SUCCESS;
  }

  int random(Memory memory, int at, int length) {
    if (length < 0) {
      return Errno.INVAL;
    }
    byte[] chunk = new byte[0];
    for (int done = 0; done < length; done += chunk.length) {
      Guest.checkInterrupted();
      chunk = random.next(Math.min(1 << 16, length - done));
      memory.write(at + done, chunk);
    }
    return Errno.SUCCESS;
  }

  private Descriptor descriptor(int fd) {
    return fd == 0 ? stdin : open.get(fd);
  }

  private static boolean isOutput(int fd) {
    return fd == 1 || fd == 2;
  }

  int known(int fd) {
    return isOutput(fd) || descriptor(fd) != null ? Errno.SUCCESS : Errno.BADF;
  }

  int close(int fd) {
    if (isOutput(fd) || fd == 0) {
      return Errno.SUCCESS;
    }
    return open.remove(fd) == null ? Errno.BADF : Errno.SUCCESS;
  }

  int fdstat(Memory memory, int fd, int resultAt) {
    if (known(fd) != Errno.SUCCESS) {
      return Errno.BADF;
    }
    ByteBuffer stat = buffer(24);
    stat.put(0, (byte) fileType(fd));
    // all rights except writing; for the two outputs only writing
    stat.putLong(8, isOutput(fd) ? RIGHT_FD_WRITE : (1L << 30) - 1 & ~RIGHT_FD_WRITE);
    stat.putLong(16, isOutput(fd) ? 0 : (1L << 30) - 1 & ~RIGHT_FD_WRITE);
    memory.write(resultAt, stat.array());
    return Errno.SUCCESS;
  }

  private int fileType(int fd) {
    if (fd < FIRST_FD) {
      return FILETYPE_UNKNOWN;
    }
    return fileType(open.get(fd).node);
  }

  private static int fileType(FileTree.Node node) {
    return node instanceof FileTree.Dir ? FILETYPE_DIRECTORY : FILETYPE_REGULAR;
  }

  int filestat(Memory memory, int fd, int resultAt) {
    if (known(fd) != Errno.SUCCESS) {
      return Errno.BADF;
    }
    if (fd < FIRST_FD) {
      memory.write(resultAt, stat(fd, FILETYPE_UNKNOWN, 0));
    } else {
      memory.write(resultAt, stat(open.get(fd).node));
    }
    return Errno.SUCCESS;
  }

  private byte[] stat(FileTree.Node node) {
    long size = node instanceof FileTree.File file ? file.bytes().length : 0;
    return stat(node.inode(), fileType(node), size);
  }

  private byte[] stat(long inode, int type, long size) {
    ByteBuffer stat = buffer(64);
    stat.putLong(8, inode);
    stat.put(16, (byte) type);
    stat.putLong(24, 1);
    stat.putLong(32, size);
    for (int time = 40; time < 64; time += 8) {
      stat.putLong(time, clock.start());
    }
    return stat.array();
  }

  private static ByteBuffer buffer(int size) {
    return ByteBuffer.allocate(size).order(ByteOrder.LITTLE_ENDIAN);
  }

  int prestat(Memory memory, int fd, int resultAt) {
    if (fd != FIRST_FD || open.get(fd) == null) {
      return Errno.BADF;
    }
    memory.writeI32(resultAt, 0);
    memory.writeI32(resultAt + 4, 1);
    return Errno.SUCCESS;
  }

  int prestatName(Memory memory, int fd, int at, int length) {
    if (fd != FIRST_FD || open.get(fd) == null) {
      return Errno.BADF;
    }
    if (length < 1) {
      return Errno.NAMETOOLONG;
    }
    memory.writeByte(at, (byte) '/');
    return Errno.SUCCESS;
  }

  int read(Memory memory, int fd, int iovecs, int count, int resultAt) {
    Descriptor from = descriptor(fd);
    if (from == null) {
      return Errno.BADF;
    }
    int errno = readAt(memory, from, from.offset, iovecs, count, resultAt);
    if (errno == Errno.SUCCESS) {
      from.offset += Integer.toUnsignedLong(memory.readInt(resultAt));
    }
    return errno;
  }

  int pread(Memory memory, int fd, int iovecs, int count, long offset, int resultAt) {
    Descriptor from = open.get(fd);
    if (from == null) {
      return fd == 0 ? Errno.SPIPE : Errno.BADF;
    }
    if (offset < 0) {
      return Errno.INVAL;
    }
    return readAt(memory, from, offset, iovecs, count, resultAt);
  }

  private static int readAt(
      Memory memory, Descriptor from, long offset, int iovecs, int count, int resultAt) {
    if (!(from.node instanceof FileTree.File file)) {
      return Errno.ISDIR;
    }
    if (count < 0 || count > IOVECS_MAX) {
      return Errno.INVAL;
    }
    byte[] bytes = file.bytes();
    int at = (int) Math.min(offset, bytes.length);
    int begin = at;
    for (int i = 0; i < count; i++) {
      long room = Integer.toUnsignedLong(memory.readInt(iovecs + 8 * i + 4));
      int n = (int) Math.min(room, bytes.length - at);
      memory.write(memory.readInt(iovecs + 8 * i), bytes, at, n);
      at += n;
    }
    memory.writeI32(resultAt, at - begin);
    return Errno.SUCCESS;
  }

  int write(Memory memory, int fd, int iovecs, int count, int resultAt) {
    if (!isOutput(fd)) {
      return descriptor(fd) == null ? Errno.BADF : Errno.ROFS;
    }
    if (count < 0 || count > IOVECS_MAX) {
      return Errno.INVAL;
    }
    long total = 0;
    for (int i = 0; i < count; i++) {
      total += Integer.toUnsignedLong(memory.readInt(iovecs + 8 * i + 4));
    }
    if (total > Integer.MAX_VALUE) {
      return Errno.INVAL;
    }
    Sink sink = fd == 1 ? stdout : stderr;
    for (int i = 0; i < count; i++) {
      int at = memory.readInt(iovecs + 8 * i);
      sink.write(memory.readBytes(at, memory.readInt(iovecs + 8 * i + 4)));
    }
    memory.writeI32(resultAt, (int) total);
    return Errno.SUCCESS;
  }

  int seek(Memory memory, int fd, long delta, int whence, int resultAt) {
    if (fd >= 0 && fd < FIRST_FD) {
      return Errno.SPIPE;
    }
    Descriptor file = open.get(fd);
    if (file == null) {
      return Errno.BADF;
    }
    if (!(file.node instanceof FileTree.File f)) {
      return Errno.ISDIR;
    }
    long base;
    switch (whence) {
      case 0 -> base = 0;
      case WHENCE_CUR -> base = file.offset;
      case 2 -> base = f.bytes().length;
      default -> {
        return Errno.INVAL;
      }
    }
    long target = base + delta;
    if (target < 0) {
      return Errno.INVAL;
    }
    file.offset = target;
    memory.writeLong(resultAt, target);
    return Errno.SUCCESS;
  }

  int open(
      Memory memory, int fd, int pathAt, int pathLength, int flags, long rights, int resultAt) {
    if ((flags & ~(OPEN_CREATE | OPEN_DIRECTORY | OPEN_EXCLUSIVE | OPEN_TRUNCATE)) != 0) {
      return Errno.INVAL;
    }
    Descriptor base = open.get(fd);
    if (base == null) {
      return Errno.BADF;
    }
    if (pathLength < 0 || pathLength > PATH_BYTES_MAX) {
      return Errno.NAMETOOLONG;
    }
    String path = text(memory, pathAt, pathLength);
    FileTree.Found found = files.find(base.path, path);
    if (found.node() == null) {
      boolean wouldCreate = found.errno() == Errno.NOENT && (flags & OPEN_CREATE) != 0;
      return wouldCreate ? Errno.ROFS : found.errno();
    }
    boolean isFile = found.node() instanceof FileTree.File;
    if (isFile && (flags & OPEN_DIRECTORY) != 0) {
      return Errno.NOTDIR;
    }
    if ((flags & (OPEN_TRUNCATE | OPEN_EXCLUSIVE)) != 0
        || isFile && (rights & RIGHT_FD_WRITE) != 0) {
      return Errno.ROFS;
    }
    if (open.size() >= OPEN_FILES_MAX) {
      return Errno.MFILE;
    }
    int free = FIRST_FD;
    while (open.containsKey(free)) {
      free++;
    }
    open.put(free, new Descriptor(found.node(), FileTree.names(base.path, path)));
    memory.writeI32(resultAt, free);
    return Errno.SUCCESS;
  }

  int pathFilestat(Memory memory, int fd, int pathAt, int pathLength, int resultAt) {
    Descriptor base = open.get(fd);
    if (base == null) {
      return Errno.BADF;
    }
    if (pathLength < 0 || pathLength > PATH_BYTES_MAX) {
      return Errno.NAMETOOLONG;
    }
    FileTree.Found found = files.find(base.path, text(memory, pathAt, pathLength));
    if (found.node() == null) {
      return found.errno();
    }
    memory.write(resultAt, stat(found.node()));
    return Errno.SUCCESS;
  }

  private static String text(Memory memory, int at, int length) {
    return new String(memory.readBytes(at, length), StandardCharsets.UTF_8);
  }

  int readdir(Memory memory, int fd, int at, int length, long cookie, int resultAt) {
    Descriptor from = open.get(fd);
    if (from == null) {
      return Errno.BADF;
    }
    if (!(from.node instanceof FileTree.Dir dir)) {
      return Errno.NOTDIR;
    }
    if (length < 0 || cookie < 0) {
      return Errno.INVAL;
    }
    int used = 0;
    long next = 0;
    for (Map.Entry<String, FileTree.Node> child : dir.children().entrySet()) {
      next++;
      if (next > cookie && used < length) {
        byte[] entry = directoryEntry(next, child.getKey(), child.getValue());
        int n = Math.min(entry.length, length - used);
        memory.write(at + used, entry, 0, n);
        used += n;
      }
    }
    memory.writeI32(resultAt, used);
    return Errno.SUCCESS;
  }

  private static byte[] directoryEntry(long next, String name, FileTree.Node node) {
    byte[] bytes = name.getBytes(StandardCharsets.UTF_8);
    ByteBuffer entry = buffer(24 + bytes.length);
    entry.putLong(0, next);
    entry.putLong(8, node.inode());
    entry.putInt(16, bytes.length);
    entry.put(20, (byte) fileType(node));
    entry.put(24, bytes);
    return entry.array();
  }

  /** Whether a descriptor can be read or written at once, for poll: all that exist can. */
  boolean isReady(int fd) {
    return known(fd) == Errno.SUCCESS;
  }
}
