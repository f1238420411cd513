package dev.writ.sandbox.workspace;

import java.nio.file.Path;

/**
 * One entry of a tree.
 *
 * @param kind as {@code find -type} writes it: f, d, l, p (FIFO), s (socket), or c for a device
 * @param mode permission bits with setuid, setgid and sticky, as in chmod(2)
 * @param size of a regular file in bytes, else 0
 * @param name below the workspace, the parts separated by {@code /}, as the bytes that they are
 * @param path on the host
 */
record Entry(char kind, int mode, long size, byte[] name, Path path) {}
