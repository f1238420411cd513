package dev.writ.sandbox.workspace;

/**
 * One entry of a workspace.
 *
 * @param kind as {@code find -type} writes it: f, d, l, p (FIFO), s (socket), or c for a device
 * @param size of a regular file in bytes, else 0
 * @param name below the workspace, the parts separated by {@code /}; bytes that are not UTF-8 are
 *     replaced by U+FFFD, so it is for display, not for opening
 */
public record TreeEntry(char kind, long size, String name) {}
