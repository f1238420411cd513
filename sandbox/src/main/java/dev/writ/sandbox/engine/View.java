package dev.writ.sandbox.engine;

import dev.writ.canonicalize.WritException;
import dev.writ.sandbox.Bind;
import dev.writ.sandbox.Command;
import dev.writ.sandbox.Profile;
import dev.writ.sandbox.SecretFile;
import dev.writ.sandbox.error.SandboxError;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Computes the mounts of one command, in the order in which they must be made. */
final class View {
  private static final List<String> LINKS = List.of("bin", "lib", "lib64", "sbin");

  /** Targets that a bind may not have: the sandbox uses them itself. */
  private View() {}

  /**
   * @param etc our own files for /etc
   * @param workspace the directory for /workspace
   * @param tmp the directory for /tmp; if absent the engine mounts a tmpfs
   * @param secrets the directory for /run/secrets, if there are secrets
   */
  record Places(Path etc, Path workspace, Optional<Path> tmp, Optional<Path> secrets) {}

  /**
   * @param image whether the root is an image, to which no files of the host are added
   */
  static List<Mounted> of(
      Profile profile, Command command, Executables executables, Places places, boolean image) {
    List<Mounted> view = new ArrayList<>();
    if (!image) {
      view.addAll(system(profile, command, executables, places));
    }
    view.add(new Mounted.Memory("/run", profile.runBytes(), "0755"));
    places.secrets().ifPresent(s -> view.add(new Mounted.ReadOnly(s, SecretFile.DIRECTORY)));
    places
        .tmp()
        .ifPresentOrElse(
            tmp ->
                view.add(
                    new Mounted.Writable(tmp, "/tmp", Confinement.runsFromTmp(profile, command))),
            () -> view.add(new Mounted.Memory("/tmp", command.limits().tmpBytes(), "1777")));
    view.add(
        new Mounted.Writable(
            places.workspace(), "/workspace", Confinement.runsOwn(profile, command)));
    command.binds().forEach(bind -> view.add(bound(bind, Confinement.runsOwn(profile, command))));
    for (String file : profile.hiddenProc()) {
      if (isOpenToOthers(Path.of(file))) {
        view.add(new Mounted.Hidden(file));
      }
    }
    return List.copyOf(view);
  }

  /**
   * Files that only root may open need not be hidden: no process in a sandbox is root of the host.
   */
  private static boolean isOpenToOthers(Path file) {
    try {
      var permissions = Files.getPosixFilePermissions(file);
      return permissions.contains(PosixFilePermission.OTHERS_READ)
          || permissions.contains(PosixFilePermission.OTHERS_WRITE);
    } catch (NoSuchFileException e) {
      return false;
    } catch (IOException e) {
      throw new WritException(SandboxError.HOST, "cannot look at " + file, e);
    }
  }

  /** The programs of the host, and our own files for /etc. */
  private static List<Mounted> system(
      Profile profile, Command command, Executables executables, Places places) {
    List<Mounted> view = new ArrayList<>();
    if (command.executables().isPresent()) {
      List<String> others = command.binds().stream().map(Bind::target).toList();
      view.addAll(executables.mounts(command.executables().get(), others));
    } else {
      for (String path : profile.system()) {
        if (Files.exists(Path.of(path))) {
          view.add(new Mounted.ReadOnly(Path.of(path), path));
        }
      }
    }
    for (String link : LINKS) {
      if (Files.exists(Path.of("/usr", link)) || link.equals("lib64") || link.equals("bin")) {
        view.add(new Mounted.Link("/" + link, "usr/" + link));
      }
    }
    for (String file : List.of("group", "gitconfig", "hosts", "nsswitch.conf", "passwd")) {
      view.add(new Mounted.ReadOnly(places.etc().resolve(file), "/etc/" + file));
    }
    return view;
  }

  private static Mounted bound(Bind bind, boolean runsOwn) {
    bind.requireAllowed();
    if (bind.writable()) {
      if (!runsOwn) {
        // What it writes there it could run.
        throw new WritException(SandboxError.BIND, "executables are listed, and it is writable");
      }
      return new Mounted.Writable(bind.source(), bind.target(), true);
    }
    return new Mounted.ReadOnly(bind.source(), bind.target());
  }

  /**
   * Requires that a program exists, before anything is started.
   *
   * @param path the value of PATH in the sandbox
   * @throws WritException {@code SBX-028}
   */
  static void requireProgram(List<Mounted> view, String program, String path) {
    List<String> candidates = new ArrayList<>();
    if (program.contains("/")) {
      candidates.add(program);
    } else {
      for (String place : path.split(":")) {
        candidates.add(place + "/" + program);
      }
    }
    for (String candidate : candidates) {
      if (mayExist(view, candidate)) {
        return;
      }
    }
    throw new WritException(
        SandboxError.EXECUTABLE_MISSING,
        program.length() > 80 ? "a name of " + program.length() + " letters" : program);
  }

  private static boolean mayExist(List<Mounted> view, String candidate) {
    if (!candidate.startsWith("/")) {
      return true; // relative to its start directory: found out when it runs
    }
    String path = candidate;
    for (String link : LINKS) {
      if (path.startsWith("/" + link + "/")) {
        path = "/usr" + path;
      }
    }
    for (Mounted one : view) {
      if (one instanceof Mounted.Writable w && path.startsWith(w.target() + "/")) {
        return true;
      }
      if (one instanceof Mounted.ReadOnly r) {
        boolean below = path.startsWith(r.target() + "/");
        if (below || path.equals(r.target())) {
          Path source =
              below ? r.source().resolve(path.substring(r.target().length() + 1)) : r.source();
          if (Files.isRegularFile(source) && Files.isExecutable(source)) {
            return true;
          }
        }
      }
    }
    return false;
  }
}
