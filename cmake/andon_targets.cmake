# What all targets of the project share.

# Our own code is built with every warning as an error; a project that uses andon as a subdirectory is not bothered.
function(andon_compile_options target)
    target_compile_features(${target} PUBLIC cxx_std_20)
    set_target_properties(${target} PROPERTIES CXX_EXTENSIONS OFF)
    if(PROJECT_IS_TOP_LEVEL)
        target_compile_options(${target} PRIVATE
            # Of files that are compiled together, one may well have a name of another's.
            -Wall -Wextra -Wpedantic $<$<NOT:$<BOOL:${CMAKE_UNITY_BUILD}>>:-Wshadow> -Wconversion -Wsign-conversion
            -Wnon-virtual-dtor -Wold-style-cast -Wcast-qual -Wextra-semi -Woverloaded-virtual -Werror
            # GCC 12 sees overlapping copies in std::string that are not there (its bug 105329).
            $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>
            # It takes files that are compiled together for headers.
            $<$<AND:$<CXX_COMPILER_ID:GNU>,$<BOOL:${CMAKE_UNITY_BUILD}>>:-Wno-subobject-linkage>)
    endif()
    if(ANDON_SANITIZE)
        target_compile_options(${target} PUBLIC -fsanitize=${ANDON_SANITIZE} -fno-omit-frame-pointer)
        target_link_options(${target} PUBLIC -fsanitize=${ANDON_SANITIZE})
        if(ANDON_SANITIZE MATCHES "undefined")
            target_compile_options(${target} PUBLIC -fno-sanitize-recover=undefined
                # clang 14 cannot compile that together with coroutines.
                $<$<CXX_COMPILER_ID:Clang>:-fno-sanitize=function>)
        endif()
        # With the checks in it, GCC 12 sees reads and writes behind short strings that are not there.
        target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-array-bounds$<SEMICOLON>-Wno-stringop-overflow$<SEMICOLON>-Wno-stringop-overread>)
    endif()
endfunction()

# What only runs in tests need not be quick, but there is much of it.
function(andon_quick_to_build target)
    target_compile_options(${target} PRIVATE $<$<CONFIG:Release,RelWithDebInfo>:-O0>)
endfunction()

# Nor need what waits for people.
function(andon_rather_quick_to_build target)
    target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O1> $<$<CONFIG:RelWithDebInfo>:-O0>)
endfunction()

# A library: the sources of its layers under src/<layer>, their headers under include/andon/<layer>.
function(andon_library name)
    cmake_parse_arguments(arg "" "" "LAYERS;SOURCES;LINKS;PRIVATE_LINKS" ${ARGN})
    add_library(andon_${name} ${arg_SOURCES})
    add_library(andon::${name} ALIAS andon_${name})
    set_target_properties(andon_${name} PROPERTIES EXPORT_NAME ${name} OUTPUT_NAME andon_${name}
        POSITION_INDEPENDENT_CODE ON VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR})
    target_include_directories(andon_${name}
        PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:include>
        PRIVATE ${PROJECT_SOURCE_DIR}/src)
    target_link_libraries(andon_${name} PUBLIC ${arg_LINKS} PRIVATE ${arg_PRIVATE_LINKS})
    andon_compile_options(andon_${name})
    if(ANDON_INSTALL)
        install(TARGETS andon_${name} EXPORT andon-${name}-targets)
        foreach(layer IN LISTS arg_LAYERS)
            install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/andon/${layer} DESTINATION include/andon)
        endforeach()
    endif()
endfunction()
