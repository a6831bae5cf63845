/* What CuPy's launch asks of the CUDA runtime, answered without one: the runtime does not start on the stand-in driver.
 *
 * CuPy links the runtime statically and asks it, in a launch, which device is current and that there is a context. The
 * rest of its launch, down to cuLaunchKernel, is its own. So what is measured is a lower bound.
 */
#include <Python.h>

int shim_get_device(int skip_dispatch)
{
    (void)skip_dispatch;
    return 0;
}

/* Asked once, when a kernel is looked up. */
int shim_get_device_count(int skip_dispatch)
{
    (void)skip_dispatch;
    return 1;
}

PyObject *shim_ensure_context(void)
{
    Py_RETURN_NONE;
}
