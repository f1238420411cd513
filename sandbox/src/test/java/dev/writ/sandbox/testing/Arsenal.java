package dev.writ.sandbox.testing;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;

/** Writes hostile programs to a directory; those in C are compiled there, all at once. */
final class Arsenal {
  private static final String PRELUDE =
      """
      #define _GNU_SOURCE
      #include <arpa/inet.h>
      #include <errno.h>
      #include <fcntl.h>
      #include <grp.h>
      #include <mqueue.h>
      #include <netinet/in.h>
      #include <pthread.h>
      #include <sched.h>
      #include <signal.h>
      #include <stdio.h>
      #include <stdlib.h>
      #include <string.h>
      #include <sys/epoll.h>
      #include <sys/fsuid.h>
      #include <sys/inotify.h>
      #include <sys/ioctl.h>
      #include <sys/mman.h>
      #include <sys/mount.h>
      #include <sys/msg.h>
      #include <sys/prctl.h>
      #include <sys/resource.h>
      #include <sys/sem.h>
      #include <sys/shm.h>
      #include <sys/socket.h>
      #include <sys/stat.h>
      #include <sys/syscall.h>
      #include <sys/sysmacros.h>
      #include <sys/time.h>
      #include <sys/un.h>
      #include <sys/wait.h>
      #include <time.h>
      #include <unistd.h>
      #ifndef CLONE_NEWTIME
      #define CLONE_NEWTIME 0x80
      #endif
      #define ESCAPED(what) (printf("ESCAPED: %s\\n", what), fflush(stdout))
      #define HELD() (printf("HELD\\n"), fflush(stdout), 0)
      #define TRY(what, worked) do { if (worked) ESCAPED(what); } while (0)
      """;

  private Arsenal() {}

  static void write(Path directory, List<Attack> attacks) throws IOException {
    Path sources = Files.createDirectory(directory.resolve("c"));
    Files.writeString(sources.resolve("prelude.h"), PRELUDE, StandardCharsets.UTF_8);
    StringBuilder names = new StringBuilder();
    for (Attack attack : attacks) {
      Path file = directory.resolve(attack.name());
      if (attack.language().equals("c")) {
        Path source = sources.resolve(attack.name() + ".c");
        Files.writeString(source, attack.program(), StandardCharsets.UTF_8);
        names.append(attack.name()).append('\n');
      } else {
        Files.writeString(file, attack.program(), StandardCharsets.UTF_8);
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwxr-xr-x"));
      }
    }
    Files.writeString(sources.resolve("names"), names, StandardCharsets.UTF_8);
    // The headers are read once for all, which is most of the work.
    String compile =
        """
        set -e
        cd %s
        gcc -w -O1 -pthread prelude.h
        xargs -P 2 -I NAME gcc -w -O1 -pthread -include prelude.h -o ../NAME NAME.c < names
        """
            .formatted(sources);
    List<String> argv = List.of("/bin/sh", "-c", compile);
    Process process = new ProcessBuilder(argv).redirectErrorStream(true).start();
    try (var in = process.getInputStream()) {
      String said = new String(in.readAllBytes(), StandardCharsets.UTF_8);
      if (process.waitFor() != 0) {
        throw new IOException(said);
      }
    } catch (InterruptedException e) {
      throw new IOException(e);
    }
  }
}
