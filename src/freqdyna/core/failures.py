"""Failures that are nobody's mistake, such as a full disk, as a sentence that says what to do."""

import errno

from freqdyna.core.errors import FreqdynaError, RunFailedError, one_line

_REMEDIES = {
    errno.ENOSPC: ("the disk is full", "free some space"),
    errno.EDQUOT: ("the disk quota is used up", "free some space"),
    errno.EROFS: ("the disk is read-only", "make it writable"),
    errno.EACCES: ("permission is denied", "allow it or choose another folder"),
    errno.EPERM: ("permission is denied", "allow it or choose another folder"),
    errno.ENOENT: ("it does not exist", "check that it was not removed or unmounted"),
    errno.ENAMETOOLONG: ("the name is too long", "choose a shorter one"),
    errno.EMFILE: ("too many files are open", "raise the limit (ulimit -n)"),
    errno.EIO: ("it cannot be read or written", "check the disk"),
}
_OF_A_NAME = (errno.ENAMETOOLONG, errno.ENOTDIR, errno.EISDIR, errno.ELOOP)
"""Errors about a path that the user has passed."""


def failure(error: BaseException) -> FreqdynaError | None:
    """A failure as an error of one sentence; None if the error is not known."""
    if is_out_of_memory(error):
        return RunFailedError(
            f"there is not enough memory ({one_line(error)}); free memory, or reduce seeds, "
            "buffer_size or queue_size"
        )
    if not isinstance(error, OSError) or error.errno is None:
        return None
    what, remedy = _REMEDIES.get(error.errno, (error.strerror or one_line(error), "mend that"))
    named = f"{str(error.filename)!r}: {what}" if error.filename else what
    if error.errno in _OF_A_NAME:
        return FreqdynaError(f"{named}; {remedy}")
    return RunFailedError(f"{named}; {remedy}, and try again")


def is_out_of_memory(error: BaseException) -> bool:
    """Whether Python, NumPy or XLA could not allocate memory."""
    # JAX is not imported for this: its error is recognized by its text.
    return isinstance(error, MemoryError) or (
        isinstance(error, RuntimeError)
        and any(text in str(error) for text in ("RESOURCE_EXHAUSTED", "Out of memory"))
    )
