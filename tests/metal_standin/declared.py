"""What the wheel's file does not list: protocols and classes written down by hand, from Apple's headers.

The wheel holds the protocols that its C code names; `MTLDevice`, `MTLBuffer` and some others are not among them, and
classes never are. Their selectors stand here in the short form `result argument argument ...`: `<P>` an object of a
protocol, `Name` one of a class, `id` any, else an Objective-C type encoding. `Z` is BOOL. Where the wheel's metadata
knows a selector too, a test compares the types.
"""

from __future__ import annotations

from dataclasses import dataclass, field

_SIZE, _RANGE = "{MTLSize=QQQ}", "{_NSRange=QQ}"


@dataclass(frozen=True, slots=True)
class Declared:
    """One protocol or class: its header, what it inherits, its messages."""

    source: str
    inherits: tuple[str, ...]
    methods: dict[str, str]
    class_methods: dict[str, str] = field(default_factory=dict)
    is_class: bool = False


def _properties(**types: str) -> dict[str, str]:
    """Getter and setter of read-write properties."""
    found = {}
    for name, kind in types.items():
        found[name] = kind
        found[f"set{name[0].upper()}{name[1:]}:"] = f"v {kind}"
    return found


_MAKE = {"alloc": "id", "new": "id"}
_INIT = {"init": "id"}

DECLARED = {
    "MTLDevice": Declared(
        "Metal/MTLDevice.h",
        ("NSObject",),
        {
            "name": "NSString",
            "registryID": "Q",
            "architecture": "MTLArchitecture",
            "maxThreadsPerThreadgroup": _SIZE,
            "isLowPower": "Z",
            "isHeadless": "Z",
            "isRemovable": "Z",
            "hasUnifiedMemory": "Z",
            "recommendedMaxWorkingSetSize": "Q",
            "currentAllocatedSize": "Q",
            "maxBufferLength": "Q",
            "maxThreadgroupMemoryLength": "Q",
            "maxTransferRate": "Q",
            "location": "Q",
            "locationNumber": "Q",
            "peerGroupID": "Q",
            "peerIndex": "I",
            "peerCount": "I",
            "argumentBuffersSupport": "Q",
            "readWriteTextureSupport": "Q",
            "supportsFamily:": "Z q",
            "supportsFeatureSet:": "Z Q",
            "supportsFunctionPointers": "Z",
            "supportsRaytracing": "Z",
            "supportsDynamicLibraries": "Z",
            "newCommandQueue": "<MTLCommandQueue>",
            "newCommandQueueWithMaxCommandBufferCount:": "<MTLCommandQueue> Q",
            "newBufferWithLength:options:": "<MTLBuffer> Q Q",
            "newBufferWithBytes:length:options:": "<MTLBuffer> r^v Q Q",
            "newBufferWithBytesNoCopy:length:options:deallocator:": "<MTLBuffer> ^v Q Q @?",
            "heapBufferSizeAndAlignWithLength:options:": "{MTLSizeAndAlign=QQ} Q Q",
            "newDefaultLibrary": "<MTLLibrary>",
            "newLibraryWithSource:options:error:": "<MTLLibrary> NSString MTLCompileOptions ^@",
            "newLibraryWithURL:error:": "<MTLLibrary> NSURL ^@",
            "newLibraryWithFile:error:": "<MTLLibrary> NSString ^@",
            "newLibraryWithData:error:": "<MTLLibrary> <OS_dispatch_data> ^@",
            "newComputePipelineStateWithFunction:error:": "<MTLComputePipelineState> <MTLFunction> ^@",
            "newComputePipelineStateWithFunction:options:reflection:error:": "<MTLComputePipelineState> <MTLFunction> Q ^@ ^@",
            "newComputePipelineStateWithDescriptor:options:reflection:error:": (
                "<MTLComputePipelineState> MTLComputePipelineDescriptor Q ^@ ^@"
            ),
            "newFence": "<MTLFence>",
            "newEvent": "<MTLEvent>",
            "newSharedEvent": "<MTLSharedEvent>",
        },
    ),
    "MTLBuffer": Declared(
        "Metal/MTLBuffer.h",
        ("MTLResource",),
        {
            "length": "Q",
            "contents": "^v",
            "didModifyRange:": f"v {_RANGE}",
            "addDebugMarker:range:": f"v NSString {_RANGE}",
            "removeAllDebugMarkers": "v",
            "gpuAddress": "Q",
        },
    ),
    "MTLCommandBuffer": Declared(
        "Metal/MTLCommandBuffer.h",
        ("NSObject",),
        {
            "device": "<MTLDevice>",
            "commandQueue": "<MTLCommandQueue>",
            "retainedReferences": "Z",
            "errorOptions": "Q",
            "label": "NSString",
            "setLabel:": "v NSString",
            "kernelStartTime": "d",
            "kernelEndTime": "d",
            "logs": "<MTLLogContainer>",
            "GPUStartTime": "d",
            "GPUEndTime": "d",
            "enqueue": "v",
            "commit": "v",
            "addScheduledHandler:": "v @?",
            "addCompletedHandler:": "v @?",
            "waitUntilScheduled": "v",
            "waitUntilCompleted": "v",
            "status": "Q",
            "error": "NSError",
            "blitCommandEncoder": "<MTLBlitCommandEncoder>",
            "computeCommandEncoder": "<MTLComputeCommandEncoder>",
            "computeCommandEncoderWithDispatchType:": "<MTLComputeCommandEncoder> Q",
            "encodeWaitForEvent:value:": "v <MTLEvent> Q",
            "encodeSignalEvent:value:": "v <MTLEvent> Q",
            "pushDebugGroup:": "v NSString",
            "popDebugGroup": "v",
        },
    ),
    "MTLCommandBufferEncoderInfo": Declared(
        "Metal/MTLCommandBuffer.h",
        ("NSObject",),
        {"label": "NSString", "debugSignposts": "NSArray", "errorState": "q"},
    ),
    "MTLLibrary": Declared(
        "Metal/MTLLibrary.h",
        ("NSObject",),
        {
            "label": "NSString",
            "setLabel:": "v NSString",
            "device": "<MTLDevice>",
            "functionNames": "NSArray",
            "type": "q",
            "installName": "NSString",
            "newFunctionWithName:": "<MTLFunction> NSString",
            "newFunctionWithName:constantValues:error:": "<MTLFunction> NSString MTLFunctionConstantValues ^@",
        },
    ),
    "MTLFunction": Declared(
        "Metal/MTLLibrary.h",
        ("NSObject",),
        {
            "label": "NSString",
            "setLabel:": "v NSString",
            "device": "<MTLDevice>",
            "functionType": "Q",
            "name": "NSString",
            "functionConstantsDictionary": "NSDictionary",
            "options": "Q",
        },
    ),
    "MTLEvent": Declared(
        "Metal/MTLEvent.h",
        ("NSObject",),
        {"device": "<MTLDevice>", "label": "NSString", "setLabel:": "v NSString"},
    ),
    "MTLSharedEvent": Declared(
        "Metal/MTLEvent.h",
        ("MTLEvent",),
        {
            "signaledValue": "Q",
            "setSignaledValue:": "v Q",
            "waitUntilSignaledValue:timeoutMS:": "Z Q Q",
            "notifyListener:atValue:block:": "v MTLSharedEventListener Q @?",
        },
    ),
    "MTLCommandBufferDescriptor": Declared(
        "Metal/MTLCommandBuffer.h",
        ("NSObject",),
        _properties(retainedReferences="Z", errorOptions="Q") | _INIT,
        _MAKE,
        is_class=True,
    ),
    "MTLCompileOptions": Declared(
        "Metal/MTLLibrary.h",
        ("NSObject",),
        _properties(
            preprocessorMacros="NSDictionary",
            fastMathEnabled="Z",
            mathMode="q",
            mathFloatingPointFunctions="q",
            languageVersion="Q",
            libraryType="q",
            preserveInvariance="Z",
            optimizationLevel="q",
            enableLogging="Z",
        )
        | _INIT,
        _MAKE,
        is_class=True,
    ),
    "MTLFunctionConstantValues": Declared(
        "Metal/MTLFunctionConstantValues.h",
        ("NSObject",),
        {
            "setConstantValue:type:atIndex:": "v r^v Q Q",
            "setConstantValues:type:withRange:": f"v r^v Q {_RANGE}",
            "setConstantValue:type:withName:": "v r^v Q NSString",
            "reset": "v",
        }
        | _INIT,
        _MAKE,
        is_class=True,
    ),
    "MTLFunctionConstant": Declared(
        "Metal/MTLLibrary.h",
        ("NSObject",),
        {"name": "NSString", "type": "Q", "index": "Q", "required": "Z"},
        is_class=True,
    ),
    "MTLComputePipelineDescriptor": Declared(
        "Metal/MTLComputePipeline.h",
        ("NSObject",),
        _properties(
            label="NSString",
            computeFunction="<MTLFunction>",
            threadGroupSizeIsMultipleOfThreadExecutionWidth="Z",
            maxTotalThreadsPerThreadgroup="Q",
            requiredThreadsPerThreadgroup=_SIZE,
            supportIndirectCommandBuffers="Z",
        )
        | {"reset": "v"}
        | _INIT,
        _MAKE,
        is_class=True,
    ),
    "MTLComputePipelineReflection": Declared(
        "Metal/MTLComputePipeline.h",
        ("NSObject",),
        {"bindings": "NSArray", "arguments": "NSArray"},
        is_class=True,
    ),
    "MTLType": Declared("Metal/MTLArgument.h", ("NSObject",), {"dataType": "Q"}, is_class=True),
    "MTLPointerType": Declared(
        "Metal/MTLArgument.h",
        ("MTLType",),
        {
            "elementType": "Q",
            "access": "Q",
            "alignment": "Q",
            "dataSize": "Q",
            "elementIsArgumentBuffer": "Z",
            "elementStructType": "MTLStructType",
        },
        is_class=True,
    ),
    "MTLStructType": Declared(
        "Metal/MTLArgument.h",
        ("MTLType",),
        {"members": "NSArray", "memberByName:": "MTLStructMember NSString"},
        is_class=True,
    ),
    "NSArray": Declared("Foundation/NSArray.h", ("NSObject",), {"count": "Q", "objectAtIndex:": "id Q"}, is_class=True),
    "NSDictionary": Declared(
        "Foundation/NSDictionary.h",
        ("NSObject",),
        {"count": "Q", "objectForKey:": "id id", "allKeys": "NSArray", "allValues": "NSArray"},
        is_class=True,
    ),
    "NSError": Declared(
        "Foundation/NSError.h",
        ("NSObject",),
        {"domain": "NSString", "code": "q", "userInfo": "NSDictionary", "localizedDescription": "NSString"},
        is_class=True,
    ),
    "NSURL": Declared(
        "Foundation/NSURL.h",
        ("NSObject",),
        {"path": "NSString", "isFileURL": "Z", "absoluteString": "NSString"},
        {"fileURLWithPath:": "id NSString", "fileURLWithPath:isDirectory:": "id NSString Z"},
        is_class=True,
    ),
}
