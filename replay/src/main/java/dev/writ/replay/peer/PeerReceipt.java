package dev.writ.replay.peer;

import java.util.List;
import java.util.Optional;

/**
 * One receipt of another system, as far as all formats have it.
 *
 * @param id what its writer calls it
 * @param signed the byte strings that the signature may be over: the same statement, spelled in
 *     each way that its format allows
 * @param signature the signature; empty where there is none
 * @param ownKey the key that the receipt names for itself, 64 hexadecimal digits; never believed
 * @param before the digest by which it names the one before it; empty where it names none
 * @param digests the digests by which the next one may name it, in the order of {@code signed}
 * @param unsigned the members that the signature does not cover
 */
record PeerReceipt(
    String id,
    List<byte[]> signed,
    Optional<byte[]> signature,
    Optional<String> ownKey,
    Optional<String> before,
    List<String> digests,
    List<String> unsigned) {}
