package dev.writ.bench;

import dev.writ.canonicalize.json.Jcs;
import dev.writ.sandbox.Profile;
import dev.writ.sandbox.seccomp.Architecture;
import dev.writ.sandbox.seccomp.OciSeccomp;
import dev.writ.sandbox.seccomp.SystemCalls;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;

/**
 * What somebody would type who has the engines and not Writ: the same flags, a cgroup with the same
 * limits, and the cgroup gone afterwards. A shell script for each.
 */
final class RawSandboxes {
  private static final String CONTROLLERS = "memory pids cpu unified";

  private final Path directory;
  private final Path state;

  /**
   * @param directory for scripts and bundles
   * @param state a state directory of ours, for the filter of system calls and files for /etc
   */
  RawSandboxes(Path directory, Path state) {
    this.directory = directory;
    this.state = state;
  }

  /** Runs a script to its end. */
  static int run(Path script) {
    try {
      Process process =
          new ProcessBuilder("/bin/sh", script.toString())
              .redirectOutput(ProcessBuilder.Redirect.DISCARD)
              .redirectError(ProcessBuilder.Redirect.INHERIT)
              .start();
      return process.waitFor();
    } catch (IOException e) {
      throw new IllegalStateException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }

  private Path script(String name, String text) throws IOException {
    Path file = directory.resolve(name + ".sh");
    Files.writeString(file, text, StandardCharsets.UTF_8);
    return file;
  }

  /** The program, and nothing else. */
  Path bare(List<String> program) throws IOException {
    return script(
        "bare-" + program.hashCode(), "exec env -i PATH=/usr/bin:/bin " + words(program) + "\n");
  }

  /** setpriv and bwrap in a cgroup of version 1. */
  Path bubblewrap(List<String> program) throws IOException {
    Path workspace = Files.createDirectories(directory.resolve("workspace"));
    Files.setAttribute(workspace, "unix:uid", 2_140_000_000);
    StringBuilder text = new StringBuilder();
    text.append("g=writ-raw-$$\n");
    text.append("for c in " + CONTROLLERS + "; do mkdir /sys/fs/cgroup/$c/$g; done\n");
    text.append("echo 268435456 >/sys/fs/cgroup/memory/$g/memory.limit_in_bytes\n");
    text.append("echo 268435456 >/sys/fs/cgroup/memory/$g/memory.memsw.limit_in_bytes\n");
    text.append("echo 64 >/sys/fs/cgroup/pids/$g/pids.max\n");
    text.append("echo 100000 >/sys/fs/cgroup/cpu/$g/cpu.cfs_quota_us\n(\n");
    text.append(
        "for c in " + CONTROLLERS + "; do echo 0 >/sys/fs/cgroup/$c/$g/cgroup.procs; done\n");
    text.append("ulimit -c 0; ulimit -n 1024; ulimit -f 131072; ulimit -l 64\n");
    text.append("exec 9<" + state.resolve("seccomp.bpf") + "\n");
    text.append("exec setpriv --reuid 2140000000 --regid 2140000000 --clear-groups");
    text.append(" --bounding-set=-all --inh-caps=-all --no-new-privs --pdeathsig KILL bwrap");
    text.append(" --unshare-all --unshare-user --uid 65534 --gid 65534 --disable-userns");
    text.append(" --die-with-parent --new-session --cap-drop ALL --hostname sandbox --clearenv");
    text.append(" --setenv HOME /workspace --setenv LANG C.UTF-8 --setenv PATH /usr/bin:/bin");
    text.append(" --setenv TZ UTC --proc /proc --dev /dev --size 16777216 --perms 1777");
    text.append(" --tmpfs /dev/shm --remount-ro /dev --perms 0755 --dir /etc");
    for (String one : List.of("/usr", "/etc/alternatives", "/etc/ld.so.cache", "/etc/ssl")) {
      text.append(" --ro-bind " + one + " " + one);
    }
    for (String one : List.of("bin", "lib", "lib64", "sbin")) {
      text.append(" --symlink usr/" + one + " /" + one);
    }
    for (String one : List.of("group", "gitconfig", "hosts", "nsswitch.conf", "passwd")) {
      text.append(" --ro-bind " + state.resolve("etc").resolve(one) + " /etc/" + one);
    }
    text.append(" --size 1048576 --tmpfs /run --size 67108864 --perms 1777 --tmpfs /tmp");
    text.append(" --bind " + workspace + " /workspace");
    for (String one : hidden()) {
      text.append(" --ro-bind /dev/null " + one);
    }
    text.append(
        " --chdir /workspace --remount-ro / --seccomp 9 -- " + words(program) + "\n)\nr=$?\n");
    text.append("for c in " + CONTROLLERS + "; do\n");
    text.append("  until rmdir /sys/fs/cgroup/$c/$g 2>/dev/null; do :; done\ndone\nexit $r\n");
    return script("bwrap-" + program.hashCode(), text.toString());
  }

  /** Those files that our profile hides and this host has. */
  private static List<String> hidden() {
    return Profile.named("default").hiddenProc().stream()
        .filter(file -> Files.isRegularFile(Path.of(file)))
        .toList();
  }

  /** runc run, with the bundle that we wrote for the same program. */
  Path runc(List<String> program, Path bundle) throws IOException {
    Path root = Files.createDirectories(directory.resolve("oci"));
    return script(
        "runc-" + program.hashCode(),
        "exec runc --root " + root + " run --bundle " + bundle + " writ-raw-$$\n");
  }

  /** podman's own client on the service that we use, with the image that we made there. */
  Path podman(List<String> program, Path socket) throws IOException {
    Path workspace = Files.createDirectories(directory.resolve("podman-workspace"));
    Files.setAttribute(workspace, "unix:uid", 2_140_000_000);
    Path filter = directory.resolve("seccomp.json");
    Files.write(
        filter,
        Jcs.write(
            OciSeccomp.forServices(
                Architecture.of(System.getProperty("os.arch")), SystemCalls.Rules.OPEN)));
    StringBuilder text = new StringBuilder();
    String client = "podman --remote --url unix://" + socket;
    text.append("i=$(" + client + " images --quiet writ-empty-root | head -n 1)\n");
    text.append("exec " + client + " run --rm --log-driver none --network none --ipc private");
    text.append(" --read-only --read-only-tmpfs=false --cap-drop all");
    text.append(" --security-opt no-new-privileges --security-opt seccomp=" + filter);
    text.append(" --security-opt mask=" + String.join(":", hidden()));
    text.append(" --memory 268435456 --memory-swap 268435456 --pids-limit 64 --cpus 1");
    text.append(" --shm-size 16777216 --ulimit core=0 --ulimit nofile=1024 --ulimit nproc=128");
    text.append(" --ulimit fsize=67108864 --ulimit memlock=65536");
    text.append(" --user 2140000000:2140000000 --hostname sandbox --workdir /workspace");
    text.append(" --env HOME=/workspace --env LANG=C.UTF-8 --env PATH=/usr/bin:/bin --env TZ=UTC");
    for (String one : List.of("/usr", "/etc/alternatives", "/etc/ld.so.cache", "/etc/ssl")) {
      text.append(" --volume " + one + ":" + one + ":ro");
    }
    for (String one : List.of("group", "gitconfig", "hosts", "nsswitch.conf", "passwd")) {
      text.append(" --volume " + state.resolve("etc").resolve(one) + ":/etc/" + one + ":ro");
    }
    text.append(" --tmpfs /run:rw,nosuid,nodev,noexec,size=1048576,mode=0755");
    text.append(" --tmpfs /tmp:rw,nosuid,nodev,noexec,size=67108864,mode=1777");
    text.append(" --volume " + workspace + ":/workspace $i " + words(program) + "\n");
    return script("podman-" + program.hashCode(), text.toString());
  }

  private static String words(List<String> program) {
    return program.stream().map(w -> "'" + w + "'").collect(Collectors.joining(" "));
  }
}
