# find_package(andon) and pkg-config for whoever installs us.
include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/andon)
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/andon-config.cmake.in
    ${PROJECT_BINARY_DIR}/andon-config.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/andon-config-version.cmake COMPATIBILITY SameMinorVersion)
foreach(name andon-core andon)
    configure_file(${CMAKE_CURRENT_LIST_DIR}/${name}.pc.in ${PROJECT_BINARY_DIR}/${name}.pc @ONLY)
    install(FILES ${PROJECT_BINARY_DIR}/${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endforeach()

install(FILES ${PROJECT_BINARY_DIR}/andon-config.cmake ${PROJECT_BINARY_DIR}/andon-config-version.cmake
        DESTINATION ${package_dir})
install(EXPORT andon-core-targets NAMESPACE andon:: DESTINATION ${package_dir})
install(EXPORT andon-andon-targets NAMESPACE andon:: DESTINATION ${package_dir})
